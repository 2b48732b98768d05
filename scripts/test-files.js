// Which test files there are, and what each needs: for scripts/test.js.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

const DATABASE = /\b(?:newLifespan|memoryDatabase|newDatabase|databaseApp|new Sequelize)\b|['/]example\//

/** Node 20 has no patterns after --test. */
export function testFiles(/** @type {string} */ path) {
  if (!existsSync(path)) {
    console.error(`There is no ${path}.`)
    process.exit(1)
  }
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join(path, name))
    .sort()
}

export function isOfCluster(/** @type {string} */ file) {
  return file.startsWith(join('test', 'cluster'))
}

/** Whether a test imports PostgreSQL by name; the others run on the databases that there are. */
export function needsPostgres(/** @type {string} */ file) {
  return /^import [^'"]*\b(?:ownPostgres|postgres)\b[^'"]*from|from '[^']*\bpostgres\b[^']*'/m.test(
    readFileSync(file, 'utf8'),
  )
}

/** Whether a test, or a helper that it imports, starts programs. */
export function startsPrograms(/** @type {string} */ file) {
  return textsOf(file).some((text) => /from 'node:child_process'/.test(text))
}

/** What a file says at its top whose tests wait for time limits. */
const WAITS = /^\/\/ Waits for seconds\b/m

export function waitsForSeconds(/** @type {string} */ file) {
  return WAITS.test(readFileSync(file, 'utf8'))
}

/** Whether a test, or a helper that it imports, starts programs with the built package. */
export function needsBuild(/** @type {string} */ file) {
  return textsOf(file).some((text) => /from '[^']*\/(?:command|new-project|processes)\.js'/.test(text))
}

/** What a file says at its top that gives the same with `toolkit_fast_path=false`, so that a run with it proves nothing more. */
const SAME_ON_BOTH_PATHS = /^\/\/ The same on both query paths\b/m

/** What these rooms test is above the statements: which ones they cause is the subject of the other rooms. */
const ABOVE_STATEMENTS = /^test[\\/](?:di|example|http|startup|types|uploads)\b/

export function dependsOnQueryPath(/** @type {string} */ file) {
  return opensDatabase(file) && !ABOVE_STATEMENTS.test(file) && !SAME_ON_BOTH_PATHS.test(readFileSync(file, 'utf8'))
}

/** A loop over all databases, and any use of them. */
const LOOP = /\bof databases\)/g
const USE = /(?<![/.'])\bdatabases\b(?!\.js)/g
const NAMES_MARIADB = /\bmysqls\b|'MariaDB|mysql2/
/** The databases of test/migrations, which files pick by their kind: both drivers of MariaDB are of one. */
const MIGRATED = /\bmigratedDatabases\b/

/**
 * With --halves, which of two databases a file runs on: both drivers of MariaDB, or SQLite and PostgreSQL without the fast path. The files of a room take
 * turns. One that is missing runs on both: in test/db, where drivers and dialects are the subject, where a file picks one itself, and alone in its room.
 * @param {readonly string[]} files all of them
 * @returns {ReadonlyMap<string, 0 | 1>}
 */
export function halvesOf(files) {
  const halved = files.filter((file) => dirname(file) !== join('test', 'db') && mayBeHalved(file))
  const rooms = [...new Set(halved.map((file) => dirname(file)))]
  const inRooms = rooms.map((room) => halved.filter((file) => dirname(file) === room))
  return new Map(
    inRooms
      .filter((some) => some.length > 1)
      .flatMap((some) => some.map((file, index) => /** @type {const} */ ([file, index % 2 === 0 ? 0 : 1]))),
  )
}

/** Whether a file does the same with each database, and picks none. */
function mayBeHalved(/** @type {string} */ file) {
  const text = readFileSync(file, 'utf8')
  if (NAMES_MARIADB.test(text)) return false
  const loops = text.match(LOOP)?.length ?? 0
  const uses = text.match(USE)?.length ?? 0
  return MIGRATED.test(text) ? uses === 0 : loops > 0 && uses === loops + 1 // and its import
}

/** Whether a test, or a helper that it imports, opens a database. */
function opensDatabase(/** @type {string} */ file) {
  return textsOf(file).some((text) => DATABASE.test(text))
}

/** The text of a test, and those of the helpers that it imports. */
function textsOf(/** @type {string} */ file) {
  const text = readFileSync(file, 'utf8')
  const helpers = [...text.matchAll(/from '(\.[^']+)\.js'/g)]
    .map(([, path = '']) => join(dirname(file), `${path}.ts`))
    .filter((path) => path.startsWith('test') && existsSync(path))
  return [text, ...helpers.map((path) => readFileSync(path, 'utf8'))]
}
