import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { after, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from './skip-without.js'
import { until } from './waiting.js'

/*
 * An app in a namespace of a Kubernetes cluster, by the manifests of example/kubernetes, and clients in a pod beside it.
 *
 * The cluster is that of kubectl's current context. These variables name the rest:
 *   TEST_KUBERNETES_IMAGE     the image of a project of `sequitur new`, whose src/ is test/support/kubernetes/app
 *   TEST_KUBERNETES_DATABASE  the URL of a PostgreSQL server as pods reach it, postgres+pg://user:password@host:5432/postgres;
 *                             the user may create databases
 */

const VARIABLES = ['TEST_KUBERNETES_IMAGE', 'TEST_KUBERNETES_DATABASE']

/** Why there is no cluster; false if the environment names one. */
export const noKubernetes = skipWithout('Kubernetes', ['kubectl']) || skipWithoutVariables()

function skipWithoutVariables(): string | false {
  const missing = VARIABLES.filter((name) => !process.env[name])
  if (missing.length === 0) return false
  const reason = `Kubernetes is skipped: ${missing.join(', ')} not set`
  console.log(reason)
  return reason
}

/** Milliseconds for pods to start, and to end. */
const LIMIT = 180_000

/** What the clients of test/support/kubernetes/client.js have seen. */
export interface Report {
  readonly seconds: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly slowest: number
  readonly failed: readonly { readonly method: string; readonly outcome: string; readonly at: number }[]
  readonly paid: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
}

interface Pod {
  readonly name: string
  readonly isReady: boolean
  readonly isEnding: boolean
  readonly restarts: number
}

export class Namespace {
  readonly #name: string
  readonly #database: string

  private constructor(name: string) {
    this.#name = name
    this.#database = name.replaceAll('-', '_')
  }

  /** Creates a namespace, and a database, which are removed when the test file is done. */
  static async create(): Promise<Namespace> {
    const namespace = new Namespace(`sequitur-${randomBytes(4).toString('hex')}`)
    await namespace.kubectl(['create', 'namespace', namespace.#name])
    after(() => namespace.#remove())
    await namespace.#startClient()
    await namespace.query(`CREATE DATABASE ${namespace.#database}`)
    return namespace
  }

  async #remove(): Promise<void> {
    await this.kubectl(['delete', 'deployment', 'my-api', '--ignore-not-found', '--wait'])
    await this.query(`DROP DATABASE IF EXISTS ${this.#database} WITH (FORCE)`)
    await this.kubectl(['delete', 'namespace', this.#name, '--wait=false'])
  }

  async kubectl(words: readonly string[], input = ''): Promise<string> {
    const running = promisify(execFile)('kubectl', ['--namespace', this.#name, ...words], { maxBuffer: 2 ** 26 })
    running.child.stdin?.end(input)
    return (await running).stdout
  }

  /** Creates the Secret that the manifests refer to. */
  async createSecret(): Promise<void> {
    const url = new URL(process.env['TEST_KUBERNETES_DATABASE'] ?? '')
    url.pathname = this.#database
    const values = { toolkit_url: url.href, toolkit_cursor_secret: randomBytes(32).toString('base64') }
    const words = Object.entries(values).map(([name, value]) => `--from-literal=${name}=${value}`)
    await this.kubectl(['create', 'secret', 'generic', 'my-api', ...words])
  }

  /** Applies a file of example/kubernetes, with the image of the environment. */
  async apply(file: string): Promise<void> {
    const manifest = readFileSync(`example/kubernetes/${file}`, 'utf8')
      .replaceAll(/image: .*/g, `image: ${process.env['TEST_KUBERNETES_IMAGE']}`)
      .replace('policy/v1', await this.#policy())
    await this.kubectl(['apply', '-f', '-'], manifest)
  }

  /** The version of budgets and evictions: another one before Kubernetes 1.22. */
  async #policy(): Promise<string> {
    const versions = await this.kubectl(['api-versions'])
    return versions.split('\n').includes('policy/v1') ? 'policy/v1' : 'policy/v1beta1'
  }

  /** Waits until as many pods as the Deployment wants are ready, and no others are left. */
  async settled(): Promise<void> {
    await this.kubectl(['rollout', 'status', 'deployment/my-api', `--timeout=${LIMIT / 1_000}s`])
    await until('no pod is ending', async () => !(await this.pods()).some(({ isEnding }) => isEnding), 500, LIMIT)
  }

  async pods(): Promise<readonly Pod[]> {
    const { items } = JSON.parse(await this.kubectl(['get', 'pods', '--selector', 'app=my-api', '--output', 'json']))
    return items.map(({ metadata, status }: PodObject) => ({
      name: metadata.name,
      isReady: status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true,
      isEnding: metadata.deletionTimestamp !== undefined,
      restarts: status.containerStatuses?.[0]?.restartCount ?? 0,
    }))
  }

  /** As `kubectl drain` does it for each pod of a node, which other programs may need. */
  async evict(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${this.#name}/pods/${name}/eviction`
    const eviction = { apiVersion: await this.#policy(), kind: 'Eviction', metadata: { name, namespace: this.#name } }
    await this.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction))
  }

  /** Rolls out a version whose migration is missing: its database has no tables. */
  async withoutTables(): Promise<void> {
    const variable = `toolkit_url=${process.env['TEST_KUBERNETES_DATABASE']}`
    await this.kubectl(['set', 'env', 'deployment/my-api', variable])
  }

  /** Executes a statement as the user of the server, in a pod. */
  async query(statement: string): Promise<void> {
    const program = `
      const { default: { Client } } = await import('pg')
      const client = new Client({ connectionString: process.argv[1] })
      await client.connect()
      for (const statement of process.argv[2].split(';')) await client.query(statement)
      await client.end()`
    const url = (process.env['TEST_KUBERNETES_DATABASE'] ?? '').replace('postgres+pg:', 'postgres:')
    await this.kubectl(['exec', 'client', '--', 'node', '--input-type=module', '--eval', program, url, statement])
  }

  /** The database refuses connections, and closes those that it has, until it is told otherwise. */
  async databaseAccepts(isAccepting: boolean): Promise<void> {
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${this.#database}'`
    await this.query(`ALTER DATABASE ${this.#database} ALLOW_CONNECTIONS ${isAccepting}; ${end}`)
  }

  async #startClient(): Promise<void> {
    const program = readFileSync('test/support/kubernetes/client.js', 'utf8')
    const image = process.env['TEST_KUBERNETES_IMAGE']
    const container = { name: 'client', image, command: ['sleep', 'infinity'] }
    const volumeMounts = [{ name: 'client', mountPath: '/client' }]
    const volumes = [{ name: 'client', configMap: { name: 'client' } }]
    const spec = {
      terminationGracePeriodSeconds: 0,
      containers: [{ ...container, volumeMounts }],
      volumes,
    }
    const items = [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'client' }, data: { 'client.mjs': program } },
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'client' }, spec },
    ]
    await this.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
    await this.kubectl(['wait', '--for=condition=ready', 'pod/client', `--timeout=${LIMIT / 1_000}s`])
  }

  /** Starts clients in a pod. The function that is returned ends them. */
  async startClients(t: TestContext): Promise<() => Promise<Report>> {
    const address = await this.kubectl(['get', 'service', 'my-api', '--output', 'jsonpath={.spec.clusterIP}'])
    const words = ['exec', '--stdin', 'client', '--', 'node', '/client/client.mjs', `http://${address}`]
    const clients: ChildProcess = spawn('kubectl', ['--namespace', this.#name, ...words], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    t.after(() => clients.kill())
    assert.ok(clients.stdout)
    const printed = text(clients.stdout)
    return async () => {
      clients.stdin?.end()
      const report: Report = JSON.parse(await printed)
      const requests = Object.values(report.outcomes).reduce((sum, count) => sum + count, 0)
      t.diagnostic(
        `${requests} requests in ${Math.round(report.seconds)} s, the slowest ${report.slowest} ms. ` +
          JSON.stringify(report.outcomes),
      )
      return report
    }
  }
}

interface PodObject {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
    readonly containerStatuses?: readonly { readonly restartCount: number }[]
  }
}
