const test = "\\.(test|laws\\.test|arbitrary|fixture)\\.ts$"

/** Directories of the conformance suite, and which of them each may import; docs/conformance.md shows the map. */
const conformanceRooms = {
  clauses: [],
  http: [],
  linearizability: [],
  windows: [],
  model: ["clauses", "http", "windows"],
  design: ["clauses", "http", "linearizability", "model"],
  ports: ["clauses", "http", "linearizability"],
  subjects: ["clauses", "http", "model", "ports"],
  programs: ["clauses", "http", "model", "subjects"],
  engine: ["clauses", "http", "model", "design", "ports", "programs", "subjects"],
  reports: ["clauses", "http", "model", "subjects", "engine"],
  runners: ["clauses", "subjects", "engine", "reports"],
  config: ["clauses", "http", "subjects", "engine"],
  selftest: [
    "clauses",
    "http",
    "linearizability",
    "model",
    "design",
    "ports",
    "programs",
    "subjects",
    "engine"
  ]
}

module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      comment: "A cycle means that two concepts are one, or that one of them is in the wrong file.",
      severity: "error",
      from: {},
      to: { circular: true }
    },
    {
      name: "core-is-pure",
      comment:
        "The core has no side effects; adapters have. It may import only its own directories and effect's stable modules.",
      severity: "error",
      from: { path: "^core/", pathNot: test },
      to: {
        pathNot: [
          "^core/",
          // effect's top-level modules are stable; its subdirectories (http, sql, cli, …) are not.
          "^node_modules/effect/dist/[A-Z][A-Za-z]*\\.(d\\.ts|js)$",
          "^node_modules/effect/dist/crypto/(Digest|SecureRandom)\\.(d\\.ts|js)$"
        ]
      }
    },
    {
      name: "adapters-are-strangers",
      comment:
        "An adapter imports core, its driver and what storage adapters share, never another adapter: a third party could have written it.",
      severity: "error",
      from: { path: "^adapters/([^/]+)/", pathNot: ["^adapters/(embed|cli)/", test] },
      to: { path: "^adapters/", pathNot: ["^adapters/$1/", "^adapters/storage/"] }
    },
    {
      name: "storage-knows-no-adapter",
      comment: "The code that storage adapters share imports no driver.",
      severity: "error",
      from: { path: "^adapters/storage/", pathNot: test },
      to: { path: "^adapters/", pathNot: "^adapters/storage/" }
    },
    {
      name: "embed-composes-all-but-cli",
      comment: "embed composes all other adapters; cli builds on embed.",
      severity: "error",
      from: { path: "^adapters/embed/", pathNot: test },
      to: { path: "^adapters/cli/" }
    },
    {
      name: "cli-sits-on-embed",
      comment:
        "The command line uses only what a program that embeds the service can use, the log, with which it shares standard error, and the values of metrics, which its processes exchange.",
      severity: "error",
      from: { path: "^adapters/cli/", pathNot: test },
      to: {
        path: "^adapters/",
        pathNot: [
          "^adapters/cli/",
          "^adapters/embed/",
          "^adapters/log/",
          "^adapters/telemetry/Snapshot[.]ts$"
        ]
      }
    },
    {
      name: "conformance-knows-no-adapter",
      comment:
        "The suite tests adapters, so it must not depend on one; only its own tests may run it on ours.",
      severity: "error",
      from: { path: "^conformance/", pathNot: test },
      to: { path: "^(adapters|bench|docs)/" }
    },
    {
      name: "only-the-command-line-needs-conformance",
      comment: "A server does not load the suite that tests it.",
      severity: "error",
      from: { path: "^(core|adapters)/", pathNot: ["^adapters/cli/", test] },
      to: { path: "^conformance/" }
    },
    {
      name: "checks-know-no-runner",
      comment: "Checks are data: any test runner, or none, can run them.",
      severity: "error",
      from: { path: "^conformance/", pathNot: [test, "^conformance/runners/Vitest[.]ts$"] },
      to: { path: "^node_modules/(vitest|@vitest)/" }
    },
    ...Object.entries(conformanceRooms).map(([room, lower]) => ({
      name: `conformance-${room}-imports-lower-rooms`,
      comment:
        "Imports inside the suite go in one direction, so that each directory can be understood without those that use it.",
      severity: "error",
      from: { path: `^conformance/${room}/`, pathNot: test },
      to: { path: "^conformance/", pathNot: `^conformance/(${[room, ...lower].join("|")})/` }
    })),
    {
      name: "nothing-needs-the-self-test",
      comment: "The self-test of the suite is not in the package; only tests use its servers and stores.",
      severity: "error",
      from: { pathNot: ["^conformance/selftest/", test] },
      to: { path: "^conformance/selftest/" }
    },
    {
      name: "nothing-needs-the-bench",
      comment: "The bench measures the product and is not part of it.",
      severity: "error",
      from: { pathNot: "^bench/" },
      to: { path: "^bench/" }
    },
    {
      name: "one-effect-module-at-a-time",
      comment: "The barrel module adds all of effect to every bundle; import effect/X instead.",
      severity: "error",
      from: { path: "^(core|adapters|conformance|bench)/" },
      to: { path: ["^node_modules/effect/dist/index[.]", "^node_modules/effect/dist/[a-z-]+/index[.]"] }
    },
    {
      name: "nothing-unresolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true }
    },
    {
      name: "only-declared-dependencies",
      severity: "error",
      // Programs that use the runner have vitest; the build copies the library of the pages into the package.
      from: {
        path: "^(core|adapters|conformance)/",
        pathNot: [test, "^conformance/runners/Vitest[.]ts$", "^adapters/pages/client/lit-html[.]d[.]ts$"]
      },
      // effect is a peer dependency of the package and a development dependency of the repository.
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["npm-peer"] }
    }
  ],
  options: {
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node"],
      mainFields: ["module", "main", "types"]
    },
    moduleSystems: ["es6"]
  }
}
