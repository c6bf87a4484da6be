/** Checks the Kubernetes objects against the types of Kubernetes, and against the server; no cluster is needed. */
import * as http from "node:http"
import * as path from "node:path"
import { text } from "node:stream/consumers"
import type { Deployment } from "kubernetes-types/apps/v1.js"
import type { HTTPGetAction, Probe, Service } from "kubernetes-types/core/v1.js"
import type { Ingress } from "kubernetes-types/networking/v1.js"
import type { PodDisruptionBudget } from "kubernetes-types/policy/v1.js"
import ts from "typescript"
import { describe, expect, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { serve } from "../../adapters/cli/CommandLine.fixture.ts"
import * as ProcessLimits from "../../adapters/cli/ProcessLimits.ts"
import * as ServeFlags from "../../adapters/cli/ServeFlags.ts"
import * as StoreFlags from "../../adapters/cli/StoreFlags.ts"
import { read, root } from "../Pages.fixture.ts"
import { instructionsOf } from "./Instructions.fixture.ts"

interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
}

const file = read("docs/deploying/kubernetes.yaml")

const inFile: ReadonlyArray<KubernetesObject> = parseAllDocuments(file, {
  strict: true,
  uniqueKeys: true
}).map((document) => document.toJS())

const onPage: ReadonlyArray<KubernetesObject> = [
  ...read("docs/deploying/kubernetes.md").matchAll(/^```yaml\n([\s\S]*?)^```$/gm)
].map(([, block = ""]) => parse(block, { strict: true, uniqueKeys: true }))

/** Returns the object of a kind, in the type that `typeErrors` has checked. */
const objectOf = <A>(kind: string): A => {
  const found = [...inFile, ...onPage].filter((object) => object.kind === kind)
  if (found.length !== 1) throw new Error(`${found.length} objects of kind ${kind}`)
  return found[0] as A // see above
}

/** Returns the errors of objects, as literals of the type that their `apiVersion` and `kind` name. */
const typeErrors = (objects: ReadonlyArray<KubernetesObject>): ReadonlyArray<string> => {
  const name = path.join(root, "docs/deploying/objects.ts")
  const lines = objects.map((object, index) => {
    const [group = "", version = "v1"] = object.apiVersion.includes("/")
      ? object.apiVersion.split("/")
      : ["core", object.apiVersion]
    const type = `import("kubernetes-types/${group.replace(".k8s.io", "")}/${version}").${object.kind}`
    return `export const object${index}: ${type} = ${JSON.stringify(object)}`
  })
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ["lib.es2022.d.ts"],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler
  }
  const host = ts.createCompilerHost(options)
  const { fileExists, getSourceFile } = host
  host.fileExists = (candidate) => candidate === name || fileExists(candidate)
  host.getSourceFile = (candidate, ...rest) =>
    candidate === name
      ? ts.createSourceFile(candidate, lines.join("\n"), ts.ScriptTarget.ES2022)
      : getSourceFile(candidate, ...rest)
  return ts
    .getPreEmitDiagnostics(ts.createProgram([name], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"))
}

describe("the Kubernetes objects", () => {
  it("have the fields of Kubernetes 1.30, and no others", () => {
    expect(inFile.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget"])
    expect(onPage.map(({ kind }) => kind)).toEqual(["HorizontalPodAutoscaler", "Ingress"])
    expect(typeErrors([...inFile, ...onPage])).toEqual([])
    const misspelled = parseAllDocuments(file.replace("enableServiceLinks", "enableServiceLink"))
    const wrong = parseAllDocuments(file.replace("replicas: 2", 'replicas: "2"'))
    const broken: ReadonlyArray<KubernetesObject> = [misspelled[0]?.toJS(), wrong[0]?.toJS()]
    expect(typeErrors(broken)).toEqual([
      expect.stringMatching(/enableServiceLink\W+ does not exist/),
      expect.stringContaining("not assignable to type 'number'")
    ])
  })

  const deployment = objectOf<Deployment>("Deployment")
  const { metadata: podMetadata, spec: pod } = deployment.spec?.template ?? {}
  const [container, ...others] = pod?.containers ?? []
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]))
  const ports = new Map((container?.ports ?? []).map(({ containerPort, name }) => [name, containerPort]))

  it("run one container without privileges, as any user that is not root", () => {
    expect(others).toEqual([])
    expect(pod).toMatchObject({ enableServiceLinks: false, automountServiceAccountToken: false })
    // Without runAsUser, so that OpenShift can choose the user.
    expect(pod?.securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } })
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] }
    })
    const { version } = JSON.parse(read("package.json"))
    expect(container?.image).toMatch(new RegExp(`/animal-store:${version}$`))
    expect(read("docs/deploying/kubernetes.md")).toContain(container?.image)
  })

  it("name the ports of the server, and select its pods", () => {
    const image = instructionsOf(read("docs/deploying/Dockerfile"))
    expect(image.find(({ keyword }) => keyword === "EXPOSE")?.text).toBe(String(ports.get("http")))
    expect(String(ports.get("admin"))).toBe(env.ANIMAL_STORE_ADMIN_PORT)
    const labels = podMetadata?.labels
    const service = objectOf<Service>("Service")
    expect(service.spec?.ports).toEqual([{ name: "http", port: 80, targetPort: "http" }])
    expect(service.spec?.selector).toEqual(labels)
    expect(deployment.spec?.selector.matchLabels).toEqual(labels)
    expect(objectOf<PodDisruptionBudget>("PodDisruptionBudget").spec?.selector?.matchLabels).toEqual(labels)
    const backend = objectOf<Ingress>("Ingress").spec?.rules?.[0]?.http?.paths[0]?.backend.service
    expect(backend).toEqual({ name: service.metadata?.name, port: { name: "http" } })
  })

  it("give a stopping pod the time that it may take, and some more", () => {
    const [command, seconds] = container?.lifecycle?.preStop?.exec?.command ?? []
    expect(command).toBe("sleep")
    const drainMs = ServeFlags.table.drainMs.default + StoreFlags.listenTable.shutdownTimeoutMs.default
    expect(env).not.toHaveProperty("ANIMAL_STORE_DRAIN")
    const graceMs = (pod?.terminationGracePeriodSeconds ?? 0) * 1_000
    expect(graceMs - Number(seconds) * 1_000 - drainMs).toBeGreaterThanOrEqual(5_000)
  })

  it("have a memory limit that suffices", () => {
    const { limits, requests } = container?.resources ?? {}
    const [, mebibytes] = /^(\d+)Mi$/.exec(limits?.memory ?? "") ?? []
    expect(requests?.memory).toBe(limits?.memory)
    const memoryBytes = Number(mebibytes) * 1024 * 1024
    const needs = {
      processes: 1,
      connections: 10_000,
      databaseConnections: 16,
      bytesInFlight: undefined
    }
    expect(
      ProcessLimits.warnings({ openFiles: undefined, memoryBytes, heapBytes: memoryBytes / 2 }, needs)
    ).toEqual([])
  })

  it("configure a server that passes the probes of the kubelet", async () => {
    const plain = Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    )
    // Secrets are absent, so the database is in memory; the ports are free ones.
    const server = await serve([], { ...plain, ANIMAL_STORE_ADMIN_PORT: "0" })
    const [, port] = await server.waitForLog(/metrics on http:\/\/[^:]+:(\d+)\/metrics/)
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe]
    for (const probe of probes) expect(await statusOf(probe, Number(port))).toBe(200)
    const { code, stderr } = await server.stop()
    expect(code).toBe(0)
    expect(stderr).not.toContain('"level":"warn"')
  })
})

/** Sends the request of a probe to a port of this machine, with the `Host` that the kubelet sends. */
const statusOf = async (probe: Probe | undefined, port: number): Promise<number | undefined> => {
  const { path: target, port: named }: Partial<HTTPGetAction> = probe?.httpGet ?? {}
  expect(named).toBe("admin")
  const headers = { Host: "10.244.1.7:9464", "User-Agent": "kube-probe/1.30" }
  return new Promise((resolve, reject) => {
    const request = http.get({ host: "127.0.0.1", port, path: target, headers, agent: false })
    request.on("error", reject)
    request.on("response", (response) => void text(response).then(() => resolve(response.statusCode)))
  })
}
