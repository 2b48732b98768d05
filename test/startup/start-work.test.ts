import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, createApp, newLifespan } from 'sequitur'
import type { Constructor } from '../../src/di/token.js'
import { databases, postgres, sqliteMemory, statements } from '../support/databases.js'
import { root, run } from '../support/processes.js'

/*
 * What a start does: the files and packages that it loads, and the statements that it sends. Its time follows from them.
 */

/** The files of dist that importing one of them loads. */
function loadedBy(file: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(file)) return known
  known.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\s(?:[^;'"]*?\sfrom\s)?\s*"(\.[^"]+)"/gm)
  for (const [, path = ''] of imports) loadedBy(join(dirname(file), path), known)
  return known
}

const loads = (entry: string, text: string) =>
  [...loadedBy(join(root, 'dist', entry))].some((file) => readFileSync(file, 'utf8').includes(text))

test('importing the package loads few files', () => {
  const files = loadedBy(join(root, 'dist/index.js')).size
  assert.ok(files >= 2 && files <= 20, `${files} files`)
})

for (const entry of ['cli/main.js', 'diagnostics.js', 'settings.js', 'metrics.js', 'opentelemetry.js', 'esbuild.js'])
  test(`dist/${entry} does not load Sequelize`, () => {
    assert.ok(loads('index.js', 'from "sequelize"'))
    assert.ok(!loads(entry, 'from "sequelize"'))
  })

const DRIVERS = ['sqlite3', 'pg', 'mariadb', 'mysql2']
const OF_REQUESTS_OR_TESTS = [
  'ajv',
  'ajv-formats',
  'light-my-request',
  'openapi3-ts',
  'croner',
  '@fastify/busboy',
  'undici',
]

for (const kind of databases)
  test(`a start on ${kind.name} loads its driver, and no package that only requests or tests need`, async () => {
    const { code, output } = await run(['test/support/programs/loaded-packages.ts'], { toolkit_url: await kind.url() })
    assert.equal(code, 0, output)
    const packages = new Set<string>(JSON.parse(output))
    assert.equal(DRIVERS.filter((name) => packages.has(name)).length, 1, output)
    // Node 22 and newer load it with node:http. On Node 20, pg makes a Response to see where it runs.
    if (kind === postgres || 'navigator' in globalThis) packages.delete('undici')
    assert.deepEqual(
      OF_REQUESTS_OR_TESTS.filter((name) => packages.has(name)),
      [],
    )
  })

function modelsOf(count: number): readonly Constructor[] {
  return Array.from({ length: count }, (_, number) => {
    class Model extends Base<Model> {
      declare id: number
    }
    Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true })(Model.prototype, 'id')
    Table({ tableName: `table${number}`, modelName: `Model${number}`, timestamps: false })(Model)
    return Model
  })
}

for (const kind of databases) {
  // The tables of a database in memory are gone when it is closed.
  if (kind === sqliteMemory) continue
  test(`the statements of a start on ${kind.name} do not grow with each model`, async () => {
    const url = await kind.url()
    const started = async (count: number, sync: boolean) => {
      const log: string[] = []
      const write = (line: string) => void log.push(line)
      const lifespan = newLifespan(url, { sync, echo: true })
      const logger = { info: write, warn: write, error: write }
      const app = createApp({ controllers: [], models: modelsOf(count), lifespan, logger })
      await app.start()
      await app.close()
      return statements(log).length
    }
    await started(20, true)
    assert.equal(await started(20, false), await started(1, false))
  })
}
