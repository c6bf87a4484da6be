import * as CurlVerdict from "./CurlVerdict.fixture.ts"

CurlVerdict.testScripts(3)
CurlVerdict.testExceptions()
