import { execFileSync, spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect, Redacted, Schema } from "effect"
import { describe, expect, inject, it } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { commands } from "../src/Cli/Commands.ts"
import { parseDatabaseUrl } from "../src/Database/DatabaseUrl.ts"
import { roleNames } from "../src/Database/RoleStatements.ts"
import { sources } from "./support/folderMap.ts"
import { isInstalled } from "./support/Installed.ts"

const folder = "config/deploy"
const read = (name: string): string => readFileSync(join(folder, name), "utf8")
const compose = () => parse(read("compose.yaml"), { merge: true })
const nonRoot = { runAsNonRoot: true, runAsUser: 1000 }

const Pod = Schema.Struct({
  automountServiceAccountToken: Schema.Literal(false),
  securityContext: Schema.Struct({ runAsNonRoot: Schema.Literal(true), runAsUser: Schema.Literal(1000) }),
  containers: Schema.Tuple(
    Schema.Struct({
      args: Schema.NonEmptyArray(Schema.String),
      envFrom: Schema.Tuple(Schema.Struct({ secretRef: Schema.Struct({ name: Schema.Literal("tieout") }) })),
      env: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String }))),
      securityContext: Schema.Struct({
        allowPrivilegeEscalation: Schema.Literal(false),
        readOnlyRootFilesystem: Schema.Literal(true),
        capabilities: Schema.Struct({ drop: Schema.Tuple(Schema.Literal("ALL")) }),
      }),
      volumeMounts: Schema.Array(Schema.Struct({ name: Schema.String, mountPath: Schema.String })),
      readinessProbe: Schema.optional(
        Schema.Struct({
          httpGet: Schema.Struct({ path: Schema.Literal("/readyz"), port: Schema.Literal("status") }),
        }),
      ),
    }),
  ),
  volumes: Schema.Array(Schema.Struct({ name: Schema.String })),
})
const Template = Schema.Struct({ spec: Pod })
const Deployment = Schema.Struct({
  apiVersion: Schema.Literal("apps/v1"),
  kind: Schema.Literal("Deployment"),
  spec: Schema.Struct({ replicas: Schema.Literal(1), template: Template }),
})
const CronJob = Schema.Struct({
  apiVersion: Schema.Literal("batch/v1"),
  kind: Schema.Literal("CronJob"),
  spec: Schema.Struct({
    concurrencyPolicy: Schema.Literal("Forbid"),
    jobTemplate: Schema.Struct({ spec: Schema.Struct({ template: Template }) }),
  }),
})

const checkPod = ({ containers: [container], securityContext, volumes }: typeof Pod.Type) => {
  expect(Object.keys(commands)).toContain(container.args[0])
  expect(securityContext).toMatchObject(nonRoot)
  const declared = volumes.map(({ name }) => name)
  expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual([...declared].sort())
  expect(container.env).toContainEqual({ name: "TIEOUT_DATABASE_REQUIRED", value: "true" })
  // Secrets come by reference only.
  for (const { name } of container.env ?? []) expect(name).not.toMatch(/SECRET|TOKEN|PASSWORD|DATABASE_URL/)
}

describe("the Kubernetes manifests", () => {
  it("run serve with probes, without root and with a file system that cannot be written", () => {
    const documents = parseAllDocuments(read("kubernetes/deployment.yaml")).map((document) => {
      expect(document.errors).toEqual([])
      return document.toJS()
    })
    expect(documents.map(({ kind }) => kind)).toEqual([
      ...["Deployment", "PersistentVolumeClaim", "Service", "PodDisruptionBudget"],
    ])
    const { spec } = Schema.decodeUnknownSync(Deployment)(documents[0])
    checkPod(spec.template.spec)
    expect(spec.template.spec.containers[0].readinessProbe).toBeDefined()
    expect(documents[2].spec.ports).toEqual([
      { name: "status", port: 8788, targetPort: "status" },
      { name: "webhook", port: 8787, targetPort: "webhook" },
    ])
  })

  it("migrate as the tables' owner, apart from what is served", () => {
    const { kind, spec } = parse(read("kubernetes/migrate.yaml"))
    expect(kind).toBe("Job")
    const { metadata, spec: pod } = spec.template
    const [{ args, env, image, securityContext }] = pod.containers
    expect(args).toEqual(compose().services.migrate.command)
    expect(env).toContainEqual({ name: "TIEOUT_DATABASE_REQUIRED", value: "true" })
    const owner = { secretKeyRef: { name: "tieout-owner", key: "DATABASE_URL" } }
    expect(env).toContainEqual({ name: "DATABASE_URL", valueFrom: owner })
    expect(image).toMatch(/@sha256:/)
    expect(pod.securityContext).toMatchObject(nonRoot)
    expect(pod.automountServiceAccountToken).toBe(false)
    expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } })
    const [deployment, , service] = parseAllDocuments(read("kubernetes/deployment.yaml")).map((document) =>
      document.toJS(),
    )
    expect(deployment.spec.template.metadata.labels).toMatchObject(service.spec.selector)
    expect(metadata.labels).not.toMatchObject(service.spec.selector)
    // The network policy is for it, too, or the database is not to be reached.
    expect(metadata.labels).toMatchObject(parse(read("kubernetes/network.yaml")).spec.podSelector.matchLabels)
  })

  it("run one sync at a time from a schedule", () => {
    const { spec } = Schema.decodeUnknownSync(CronJob)(
      parseAllDocuments(read("kubernetes/cronjob.yaml"))[0]?.toJS(),
    )
    checkPod(spec.jobTemplate.spec.template.spec)
  })
})

describe("the network policy", () => {
  it("is for the pods of both, lets in to the two ports alone, and not out to the cluster or its metadata", () => {
    const { spec } = parse(read("kubernetes/network.yaml"))
    for (const name of ["deployment", "cronjob"]) {
      const [workload] = parseAllDocuments(read(`kubernetes/${name}.yaml`))
      const found = workload?.toJS().spec
      const { labels } = (found.jobTemplate?.spec ?? found).template.metadata
      expect(labels).toMatchObject(spec.podSelector.matchLabels)
    }
    expect(spec.policyTypes).toEqual(["Ingress", "Egress"])
    const ports = (rules: ReadonlyArray<{ ports: ReadonlyArray<{ port: number }> }>) =>
      rules.flatMap((rule) => rule.ports.map(({ port }) => port))
    expect(ports(spec.ingress)).toEqual([8788, 8787])
    expect(ports(spec.egress)).toEqual([53, 53, 5432, 6432, 443])
    expect(spec.egress.at(-1).to[0].ipBlock.except).toContain("169.254.0.0/16")
  })
})

describe("the images", () => {
  it("are named by digest, or wait for one", () => {
    const manifests = ["kubernetes/deployment.yaml", "kubernetes/cronjob.yaml"].map(read).join("\n")
    const named = [...manifests.matchAll(/image: (\S+)/g)].map(([, image]) => image)
    expect(named).toEqual(Array(2).fill("registry.example.com/tieout@sha256:DIGEST_OF_YOUR_IMAGE"))
    const { services } = compose()
    expect(services.postgres.image).toMatch(/^\$\{POSTGRES_IMAGE:\?/)
    expect(services.tieout.build.args.NODE_IMAGE).toMatch(/^\$\{NODE_IMAGE:\?/)
    const from = read("Dockerfile").match(/^FROM .*$/gm) ?? []
    expect(from.map((line) => line.includes(" $" + "{NODE_IMAGE}"))).toEqual([true, true])
  })
})

const hasPsql = isInstalled("psql", "the script of the compose file is not run")

describe("the compose file", () => {
  it("waits for a healthy Postgres, listens on this machine only, and holds no secret", () => {
    const { services, volumes } = compose()
    expect(Object.keys(services)).toEqual(["postgres", "migrate", "tieout"])
    expect(services.migrate.depends_on).toEqual({ postgres: { condition: "service_healthy" } })
    expect(services.tieout.depends_on).toEqual({ migrate: { condition: "service_completed_successfully" } })
    expect(services.postgres.healthcheck.test).toContain("pg_isready -U tieout -d tieout")
    expect(services.tieout.ports).toEqual(["127.0.0.1:8788:8788", "127.0.0.1:8787:8787"])
    expect(services.tieout).toMatchObject({ read_only: true, cap_drop: ["ALL"], env_file: "tieout.env" })
    expect(Object.keys(volumes)).toEqual(["database", "exports"])
    // What the partner gave is the connector's alone.
    expect(services.postgres.env_file).toBe("postgres.env")
    const named = (file: string) => read(file).match(/^\w+(?==)/gm)
    expect(named("postgres.env.example")).toEqual(["POSTGRES_PASSWORD", "RUNTIME_PASSWORD"])
    expect(named("owner.env.example")).toEqual(["DATABASE_URL"])
    expect(read("tieout.env.example")).not.toContain("POSTGRES_PASSWORD")
    expect(services.tieout.environment.TIEOUT_DATABASE_REQUIRED).toBe("true")
    expect(services.tieout).toMatchObject({ ulimits: { core: 0 }, mem_limit: "1g" })
    expect(read("compose.yaml")).not.toMatch(/PASSWORD:|SECRET:|TOKEN:/)
    expect(services.tieout.environment).not.toHaveProperty("DATABASE_URL")
    const ignored = readFileSync(".gitignore", "utf8")
    for (const name of ["tieout", "owner", "postgres"])
      expect(ignored).toContain(`/config/deploy/${name}.env\n`)
  })

  it("runs migrations as the tables' owner, and the connector as the role that changes no table", () => {
    const { services } = compose()
    expect(services.migrate).toMatchObject({ command: ["migrate", "--roles"], env_file: "owner.env" })
    const userIn = (file: string) => /^DATABASE_URL=postgres:\/\/(\w+):/m.exec(read(file))?.[1]
    expect(userIn("owner.env.example")).toBe(services.postgres.environment.POSTGRES_USER)
    expect(userIn("tieout.env.example")).toBe(roleNames.runtime)
    for (const hardened of ["read_only", "cap_drop", "security_opt", "ulimits", "mem_limit"])
      expect(services.migrate[hardened]).toEqual(services.tieout[hardened])
    expect(services.postgres.volumes).toContain(
      "./postgres-roles.sh:/docker-entrypoint-initdb.d/tieout-roles.sh:ro",
    )
  })

  it.skipIf(!hasPsql)(
    "makes the connector's role with its password, once, and refuses to without one",
    () => {
      const role = `test_${randomBytes(6).toString("hex")}`
      const made = join(mkdtempSync(join(tmpdir(), "tieout-roles-")), "roles.sh")
      writeFileSync(made, read("postgres-roles.sh").replaceAll(roleNames.runtime, role))
      const settings = Effect.runSync(parseDatabaseUrl(Redacted.make(inject("testServerUrl"))))
      const { host, password: own, path, port, username } = settings
      const variables = {
        ...{
          PATH: process.env.PATH,
          PGHOST: path === undefined ? host : dirname(path),
          PGPORT: String(port),
        },
        ...{ PGPASSWORD: own === undefined ? "" : Redacted.value(own) },
        ...{ POSTGRES_USER: username, POSTGRES_DB: "postgres" },
      }
      const psql = (user: string, password: string) =>
        spawnSync("psql", ["-Atc", "select current_user", "-U", user, "postgres"], {
          env: { ...variables, PGPASSWORD: password },
          encoding: "utf8",
        }).stdout.trim()
      const ran = (password?: string) =>
        spawnSync("sh", [made], {
          env: { ...variables, ...(password === undefined ? {} : { RUNTIME_PASSWORD: password }) },
        }).status
      try {
        expect([ran(), ran("")]).not.toContain(0)
        // No quoting of ours gets between the password and the server.
        const password = `it's "$HOME" \\ ; --`
        expect(ran(password)).toBe(0)
        expect([psql(role, password), psql(role, "wrong")]).toEqual([role, ""])
      } finally {
        spawnSync("psql", ["-c", `drop role if exists ${role}`, "-U", username, "postgres"], {
          env: variables,
        })
        rmSync(dirname(made), { recursive: true })
      }
    },
  )
})

describe("the Dockerfile", () => {
  it("leaves development dependencies and root behind, and copies only what there is", () => {
    const text = read("Dockerfile")
    expect(text.slice(text.lastIndexOf("\nFROM "))).not.toMatch(/npm|node_modules|src/)
    expect(text).toContain("COPY --from=build /build/dist/package ./")
    expect(text).toMatch(/^USER 1000:1000$/m)
    expect(text).not.toMatch(/^(?:ARG|ENV) .*(?:SECRET|TOKEN|PASSWORD)/m)
    const ignored = read("Dockerfile.dockerignore")
    for (const [, names = ""] of text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
      for (const name of names.split(" ")) {
        expect(readdirSync(name.includes("/") ? "config" : ".")).toContain(name.split("/").at(-1))
        expect(ignored).toContain(`!${name}\n`)
      }
    }
  })
})

const hasSystemd = isInstalled("systemd-analyze", "the units are not verified")

describe("the systemd units", () => {
  it.skipIf(!hasSystemd)("hold in systemd's own eyes", () => {
    const made = mkdtempSync(join(tmpdir(), "tieout-units-"))
    try {
      const units = readdirSync(join(folder, "systemd"))
      // The program is not installed here: one that is stands for it.
      for (const unit of units)
        writeFileSync(
          join(made, unit),
          read(`systemd/${unit}`).replace("/usr/local/bin/tieout", process.execPath),
        )
      const paths = units.map((unit) => join(made, unit))
      execFileSync("systemd-analyze", ["verify", "--recursive-errors=no", ...paths], { stdio: "pipe" })
    } finally {
      rmSync(made, { recursive: true })
    }
  })

  it("hand secrets over as credentials, bound the memory and write none of it to a disk", () => {
    for (const unit of ["tieout.service", "tieout-sync.service"]) {
      const text = read(`systemd/${unit}`)
      for (const line of [
        "LimitCORE=0",
        "MemoryMax=1G",
        "LoadCredential=client-secret:/etc/tieout/client-secret",
      ])
        expect(text.split("\n")).toContain(line)
      for (const [, name, credential] of text.matchAll(/^#?Environment=(\w+)_FILE=%d\/(\S+)$/gm)) {
        expect(text).toContain(`LoadCredential=${credential}:/etc/tieout/${credential}\n`)
        expect(read("tieout.env.example")).toMatch(new RegExp(`^${name}=`, "m"))
      }
    }
  })

  it("have their settings for a command by hand, too: user, folders, secrets", () => {
    const text = read("tieout-by-hand")
    execFileSync("sh", ["-n", join(folder, "tieout-by-hand")])
    for (const unit of ["tieout.service", "tieout-sync.service"]) {
      for (const [, line = ""] of read(`systemd/${unit}`).matchAll(
        /^((?:User|DynamicUser|StateDirectory|StateDirectoryMode|WorkingDirectory|UMask|LimitCORE|EnvironmentFile)=.*)$/gm,
      ))
        expect(text).toContain(`--property=${line} `)
      for (const [, name, value] of read(`systemd/${unit}`).matchAll(/(TIEOUT_(?:CONFIG|DATA_DIR))=(\S+)/g))
        expect(text).toContain(`--setenv=${name}=${value} `)
      for (const [, name, credential] of read(`systemd/${unit}`).matchAll(
        /^#?Environment=(\w+)_FILE=%d\/(\S+)$/gm,
      ))
        expect(text).toContain(`$(secret ${credential} ${name})`)
    }
  })

  it("name commands that there are", () => {
    for (const unit of ["tieout.service", "tieout-sync.service"]) {
      const [, command] = /^ExecStart=\/usr\/local\/bin\/tieout (\w+)/m.exec(read(`systemd/${unit}`)) ?? []
      expect(Object.keys(commands)).toContain(command)
    }
  })
})

/** The names of the metrics in the sources: of the database's families, and of the process's own. */
const metricNames = (): ReadonlySet<string> => {
  const files = sources().map((file) => readFileSync(file, "utf8"))
  const names = files.flatMap((text) =>
    [...text.matchAll(/"(tieout_[a-z_]+|process_[a-z_]+)"/g)].map(([, name]) => name ?? ""),
  )
  return new Set(names)
}

const namesIn = (expression: string): ReadonlyArray<string> =>
  (expression.match(/\b(?:tieout|process)_[a-z_]+/g) ?? []).map((name) => name.replace(/_bucket$/, ""))

const hasPromtool = isInstalled("promtool", "the alert rules are not checked")

describe("the alert rules and the dashboard", () => {
  const rules = parse(read("prometheus/tieout.rules.yaml")).groups[0].rules
  const others = parse(read("prometheus/tieout-cronjob.rules.yaml")).groups[0].rules

  it("ask for metrics that there are", () => {
    const known = metricNames()
    const panels: ReadonlyArray<{ targets: ReadonlyArray<{ expr: string }> }> = JSON.parse(
      read("grafana/tieout.json"),
    ).panels
    const asked = [
      ...rules.map(({ expr }: { expr: string }) => expr),
      ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ].flatMap(namesIn)
    expect(asked.length).toBeGreaterThan(30)
    expect(asked.filter((name) => !known.has(name))).toEqual([])
  })

  it("are each explained: what it is, and what to do", () => {
    const documented = readFileSync("docs/operations.md", "utf8")
    const names: ReadonlyArray<string> = [...rules, ...others].map(({ alert }: { alert: string }) => alert)
    expect(names.filter((name) => !documented.includes(`\`${name}\``))).toEqual([])
    expect(
      [...documented.matchAll(/`(Tieout[A-Z]\w+)`/g)]
        .map(([, name]) => name)
        .filter((name) => !names.includes(name ?? "")),
    ).toEqual([])
  })

  it.skipIf(!hasPromtool)("hold in Prometheus's own eyes, and fire when they should", () => {
    for (const args of [
      ["check", "rules", join(folder, "prometheus/tieout.rules.yaml")],
      ["check", "rules", join(folder, "prometheus/tieout-cronjob.rules.yaml")],
      ["test", "rules", join(folder, "prometheus/tieout.rules.test.yaml")],
    ])
      execFileSync("promtool", args, { stdio: "pipe" })
  })
})
