using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .store)],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "main")]
);

const store :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "dist/worker.js")],
  compatibilityDate = "2026-07-01",
  durableObjectNamespaces = [(className = "AnimalStore", uniqueKey = "animal-store", preventEviction = true)],
  durableObjectStorage = (inMemory = void),
  bindings = [
    (name = "STORE", durableObjectNamespace = "AnimalStore"),
    (name = "ORIGIN", fromEnvironment = "ORIGIN")
  ]
);
