// Waits for SHUTDOWN_DELAY.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { parseAllDocuments } from 'yaml'
import { Hero } from '../../example/hero.js'
import { codeBlock } from '../support/code-block.js'
import { postgresUrl } from '../support/postgres.js'
import { freePort } from '../support/postgres-server.js'
import { serve } from '../support/processes.js'
import { until } from '../support/waiting.js'

/*
 * The manifests of example/kubernetes fit the app. test/cluster/kubernetes.test.ts applies them to a cluster.
 */

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
}

interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly envFrom: readonly [{ readonly secretRef: { readonly name: string } }]
  readonly env?: readonly { readonly name: string; readonly value: string }[]
  readonly ports: readonly [{ readonly name: string; readonly containerPort: number }]
  readonly resources: { readonly limits: { readonly memory: string } }
  readonly startupProbe: Probe
  readonly livenessProbe: Probe
  readonly readinessProbe: Probe
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly selector: Readonly<Record<string, unknown>> & { readonly matchLabels?: unknown }
    readonly ports: readonly [{ readonly targetPort: string }]
    readonly strategy: { readonly rollingUpdate: { readonly maxSurge: number; readonly maxUnavailable: number } }
    readonly template: {
      readonly metadata: { readonly labels: unknown }
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [Container] }
    }
  }
}

function manifests(name: string): Record<string, Manifest> {
  const documents = parseAllDocuments(readFileSync(`example/kubernetes/${name}.yaml`, 'utf8'))
  const read = documents.map((document) => {
    assert.deepEqual([document.errors, document.warnings], [[], []])
    return document.toJS() as Manifest
  })
  return Object.fromEntries(read.map((manifest) => [manifest.kind, manifest]))
}

const { Deployment, Service, PodDisruptionBudget } = manifests('app')
const { Job } = manifests('migrate')
assert.ok(Deployment && Service && PodDisruptionBudget && Job)
const { template } = Deployment.spec
const [container] = template.spec.containers
const [migration] = Job.spec.template.spec.containers
const [, secretName, literals = ''] =
  /^kubectl create secret generic (\S+) \\\n((?: .*\n)+)/m.exec(readFileSync('docs/deployment.md', 'utf8')) ?? []
/** The values that the page gives to the Secret. */
const secrets = Object.fromEntries(
  [...literals.matchAll(/--from-literal=(\w+)=(?:'([^']*)'|"([^"]*)")/g)].map(([, name = '', value, computed]) => [
    name,
    value ?? computed ?? '',
  ]),
)
const variables = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]))

test('docs/deployment.md shows the Deployment', () => {
  assert.equal(codeBlock('docs/deployment.md', 'yaml'), readFileSync('example/kubernetes/app.yaml', 'utf8'))
})

test('the parts refer to each other', () => {
  const { labels } = template.metadata
  assert.deepEqual(
    [Deployment.spec.selector.matchLabels, Service.spec.selector, PodDisruptionBudget.spec.selector.matchLabels],
    [labels, labels, labels],
  )
  const ports = [container.startupProbe, container.livenessProbe, container.readinessProbe].map(
    ({ httpGet }) => httpGet.port,
  )
  assert.deepEqual([...new Set([...ports, Service.spec.ports[0].targetPort])], [container.ports[0].name])
  for (const { envFrom } of [container, migration]) assert.equal(envFrom[0].secretRef.name, secretName)
  assert.equal(migration.image, container.image)
  // What `npm run build` of a project of `sequitur new` makes of src/migrate.ts.
  assert.deepEqual(migration.command, ['node', 'dist/migrate.js'])
})

test('a rollout starts a pod before it ends one, and gives it the time that the app takes', () => {
  assert.deepEqual(Deployment.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
  const [, drain = ''] = /drain: ([\d_]+)/.exec(readFileSync('example/recipes/deployed.ts', 'utf8')) ?? []
  const delay = Number(variables['SHUTDOWN_DELAY'])
  const needed = delay + Number(drain.replaceAll('_', ''))
  assert.notEqual(delay, 0)
  assert.ok(needed > 0, `SHUTDOWN_DELAY is ${delay}, drain ${drain}`)
  assert.ok(template.spec.terminationGracePeriodSeconds * 1_000 > needed, `the app may take ${needed} ms`)
})

test('Node.js collects garbage before the memory limit is reached', () => {
  const [, heap] = /--max-old-space-size=(\d+)/.exec(variables['NODE_OPTIONS'] ?? '') ?? []
  const [, limit] = /^(\d+)Mi$/.exec(container.resources.limits.memory) ?? []
  assert.ok(Number(heap) < Number(limit), `${heap} of ${limit} MiB`)
})

test('the app knows the variables and answers the probes, also while it closes', async () => {
  const toolkit_url = await postgresUrl()
  await withSession(newLifespan(toolkit_url, { models: [Hero, FeedEvent], sync: true }), async () => {}) // creates the tables
  assert.deepEqual(Object.keys(secrets), ['toolkit_url', 'toolkit_cursor_secret'])
  const environment = { ...secrets, ...variables, toolkit_url, PORT: String(await freePort()) }
  const app = await serve(['example/recipes/deployed.ts'], environment)
  const { startupProbe, livenessProbe, readinessProbe } = container
  const status = async ({ httpGet }: Probe) => (await fetch(app.url + httpGet.path)).status
  for (const probe of [startupProbe, livenessProbe, readinessProbe]) assert.equal(await status(probe), 200)
  const since = performance.now()
  const ended = app.stop('SIGTERM')
  await until('the pod is not ready', async () => (await status(readinessProbe)) === 503)
  assert.equal(await status(livenessProbe), 200)
  assert.equal(await ended, 0)
  const took = performance.now() - since
  assert.ok(took >= Number(variables['SHUTDOWN_DELAY']), `it took ${took} ms`)
  assert.ok(took < template.spec.terminationGracePeriodSeconds * 1_000, `it took ${took} ms`)
})
