/** Simulates a disk that stalls: a library in the process under test delays each sync of files below a directory. */
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"

/** The C source of an `fsync` and an `fdatasync` that wait while a flag file exists. */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_for_disk(int fd) {
  const char *directory = getenv("SLOW_DISK_DIRECTORY"), *flag = getenv("SLOW_DISK_FLAG");
  char link[64], file[PATH_MAX];
  if (directory == NULL || flag == NULL) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, file, sizeof file - 1);
  if (length < 0) return;
  file[length] = 0;
  if (strncmp(file, directory, strlen(directory)) != 0) return;
  const struct timespec pause = { 0, 5000000 };
  while (access(flag, F_OK) == 0) nanosleep(&pause, NULL);
}

typedef int (*sync_call)(int);
int fsync(int fd) {
  wait_for_disk(fd);
  return ((sync_call)dlsym(RTLD_NEXT, "fsync"))(fd);
}
int fdatasync(int fd) {
  wait_for_disk(fd);
  return ((sync_call)dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
`

/** A directory whose disk stalls on demand. */
export interface SlowDisk {
  readonly directory: string
  /** The environment of the process under test. */
  readonly environment: { readonly [name: string]: string }
  readonly stall: () => void
  readonly resume: () => void
}

/** Builds the library in a new directory. */
const build = (): { readonly library: string } | { readonly missing: string } => {
  if (process.platform !== "linux") return { missing: "the operating system is not Linux" }
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-slow-disk-"))
  process.once("exit", () => fs.rmSync(directory, { recursive: true, force: true }))
  const library = path.join(directory, "slow-disk.so")
  const { error, status, stderr } = spawnSync(
    "cc",
    ["-shared", "-fPIC", "-x", "c", "-o", library, "-", "-ldl"],
    { input: SOURCE, encoding: "utf8" }
  )
  if (error !== undefined) return { missing: "the C compiler cc is not installed" }
  return status === 0 ? { library } : { missing: `the library does not compile: ${stderr.split("\n", 1)[0]}` }
}

const built = build()

/** The reason why a stalling disk cannot be simulated here, or `undefined`. */
export const missing: string | undefined = "missing" in built ? built.missing : undefined

if (missing !== undefined) console.warn(`Tests of a disk that stalls are skipped: ${missing}`)

/** Creates a directory; the test must remove it. */
export const create = (): SlowDisk => {
  if (!("library" in built)) throw new Error(built.missing)
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "animal-store-")))
  const flag = path.join(directory, "stalls")
  return {
    directory,
    environment: { LD_PRELOAD: built.library, SLOW_DISK_DIRECTORY: directory, SLOW_DISK_FLAG: flag },
    stall: () => fs.writeFileSync(flag, ""),
    resume: () => fs.rmSync(flag, { force: true })
  }
}
