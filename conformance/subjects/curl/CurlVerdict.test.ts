import * as CurlVerdict from "./CurlVerdict.fixture.ts"

CurlVerdict.testScripts(12)
