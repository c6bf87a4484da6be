"""Runs the urllib3 program from docs/clients.md, as RetryDriver.fixture.ts runs those in JavaScript."""
import importlib.util
import json
import sys
from concurrent.futures import ThreadPoolExecutor

file, mode, first, *rest = sys.argv[1:]
spec = importlib.util.spec_from_file_location("program", file)
program = importlib.util.module_from_spec(spec)
spec.loader.exec_module(program)

if mode == "in-sequence":
    statuses = [program.list_pets().status for _ in range(int(first))]
elif mode == "concurrently":
    with ThreadPoolExecutor(int(first)) as pool:
        statuses = [call.result().status for call in [pool.submit(program.list_pets) for _ in range(int(first))]]
else:
    statuses = [program.create({"name": first, "categoryId": 7}, rest[0]).status]
print(json.dumps(statuses))
