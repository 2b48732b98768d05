import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Namespace, noKubernetes, type Report } from '../support/kubernetes.js'
import { until } from '../support/waiting.js'

/*
 * An app is deployed by the manifests of example/kubernetes, and is rolled out, scaled, evicted and killed while clients in a pod pay.
 */

const skip = noKubernetes
const namespace = skip ? undefined : await deploy()

async function deploy(): Promise<Namespace> {
  const created = await Namespace.create()
  await created.createSecret()
  await created.apply('migrate.yaml')
  await created.kubectl(['wait', '--for=condition=complete', 'job/my-api-migrate', '--timeout=120s'])
  await created.apply('app.yaml')
  // In a namespace of processes of its own, the app has the id 1, which nothing inside can kill.
  const shared = { spec: { template: { spec: { shareProcessNamespace: true } } } }
  await created.kubectl(['patch', 'deployment', 'my-api', '--patch', JSON.stringify(shared)])
  await created.settled()
  return created
}

/** Each payment that a client knows of was made once, and so were those that it does not know of. */
function assertOnce({ paid, lost, doubled }: Report): void {
  assert.ok(paid > 50)
  assert.deepEqual([lost, doubled], [[], []])
}

function assertNoneFailed(report: Report): void {
  assert.deepEqual(report.failed, [])
  assertOnce(report)
}

const MILLISECONDS = 3_000

test('rollouts fail no request', { skip }, async (t) => {
  assert.ok(namespace)
  const finish = await namespace.startClients(t)
  await wait(MILLISECONDS)
  for (const _ of [1, 2]) {
    const former = (await namespace.pods()).map(({ name }) => name)
    await namespace.kubectl(['rollout', 'restart', 'deployment/my-api'])
    await namespace.settled()
    assert.ok((await namespace.pods()).every(({ name }) => !former.includes(name)))
  }
  await wait(MILLISECONDS)
  assertNoneFailed(await finish())
})

test('a version that does not start replaces no pod, and fails no request', { skip }, async (t) => {
  assert.ok(namespace)
  const before = await namespace.pods()
  const finish = await namespace.startClients(t)
  await namespace.withoutTables()
  const failed = async () => (await namespace.pods()).some(({ restarts, isReady }) => restarts > 0 && !isReady)
  await until('a new pod has failed', failed, 500, 60_000)
  const ready = (await namespace.pods()).filter(({ isReady }) => isReady)
  assert.deepEqual(ready.map(({ name }) => name).sort(), before.map(({ name }) => name).sort())
  await namespace.kubectl(['rollout', 'undo', 'deployment/my-api'])
  await namespace.settled()
  assertNoneFailed(await finish())
})

test('scaling up and down, and an eviction, fail no request', { skip }, async (t) => {
  assert.ok(namespace)
  const finish = await namespace.startClients(t)
  await wait(MILLISECONDS)
  for (const replicas of [3, 1, 2]) {
    await namespace.kubectl(['scale', 'deployment/my-api', `--replicas=${replicas}`])
    await namespace.settled()
    assert.equal((await namespace.pods()).length, replicas)
  }
  const [pod] = await namespace.pods()
  assert.ok(pod)
  await namespace.evict(pod.name)
  await namespace.settled()
  await wait(MILLISECONDS)
  assertNoneFailed(await finish())
})

test('while the database is unavailable, pods get no requests, and none is restarted', { skip }, async (t) => {
  assert.ok(namespace)
  const before = await namespace.pods()
  const finish = await namespace.startClients(t)
  await wait(MILLISECONDS)
  await namespace.databaseAccepts(false)
  t.after(() => namespace.databaseAccepts(true))
  const ready = async () => (await namespace.pods()).filter(({ isReady }) => isReady).length
  await until('no pod is ready', async () => (await ready()) === 0, 500, 60_000)
  await wait(30_000) // as long as it takes the liveness probe to fail three times
  await namespace.databaseAccepts(true)
  await until('both pods are ready', async () => (await ready()) === 2, 500, 60_000)
  await wait(MILLISECONDS)
  const report = await finish()
  assertOnce(report)
  assert.ok(report.failed.length > 0)
  assert.deepEqual(
    (await namespace.pods()).map(({ name, restarts }) => [name, restarts]),
    before.map(({ name, restarts }) => [name, restarts]),
  )
})

test('a process that is killed loses no payment, and makes none twice', { skip }, async (t) => {
  assert.ok(namespace)
  const finish = await namespace.startClients(t)
  await wait(MILLISECONDS)
  const [pod] = await namespace.pods()
  assert.ok(pod)
  const kill = `for (const id of fs.readdirSync('/proc').filter(Number))
    if (Number(id) !== process.pid && fs.readFileSync('/proc/' + id + '/cmdline', 'latin1').includes('dist/main.js')) process.kill(Number(id), 'SIGKILL')`
  await namespace.kubectl(['exec', pod.name, '--', 'node', '--eval', kill])
  await until(
    'the container is started again',
    async () => {
      const now = (await namespace.pods()).find(({ name }) => name === pod.name)
      return now?.restarts === pod.restarts + 1 && now.isReady
    },
    500,
    60_000,
  )
  await wait(MILLISECONDS)
  assertOnce(await finish())
})
