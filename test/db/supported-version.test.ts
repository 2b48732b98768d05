import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Sequelize } from 'sequelize'
import { newLifespan } from 'sequitur'
import { requireSupported, SUPPORTED_VERSIONS } from '../../src/db/supported-version.js'

type PackageName = keyof typeof SUPPORTED_VERSIONS

/** What a package of this name and version exports, whose main file is in a folder of it. */
function packageOf(t: TestContext, name: string, version: string): object {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-version-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'lib'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }))
  writeFileSync(join(folder, 'lib/index.js'), 'exports.createConnection = () => { throw new Error("too far") }')
  return createRequire(import.meta.url)(join(folder, 'lib/index.js')) as object
}

const supported: Readonly<Record<PackageName, readonly string[]>> = {
  sequelize: ['6.37.8', '6.37.12'],
  pg: ['8.23.1', '8.23.2'],
  sqlite3: ['6.0.1', '6.0.10'],
  mysql2: ['3.15.0', '3.15.1', '3.24.5'],
  mariadb: ['3.5.4', '3.5.5'],
}

const others: Readonly<Record<PackageName, readonly string[]>> = {
  sequelize: ['6.37.7', '6.38.0', '7.37.8', '7.0.0-alpha.46'],
  pg: ['8.23.0', '8.24.0', '9.23.1'],
  sqlite3: ['6.0.0', '6.1.0', '5.1.7'],
  mysql2: ['3.14.5', '3.9.0', '2.99.99', '3.9.0-canary.1', '4.0.0'],
  mariadb: ['3.5.3', '3.4.5', '3.6.0', '4.5.4'],
}

for (const name of Object.keys(SUPPORTED_VERSIONS) as PackageName[])
  test(`other versions of ${name} than the tested ones are refused`, (t) => {
    for (const version of supported[name]) requireSupported(name, packageOf(t, name, version))
    for (const version of others[name])
      assert.throws(() => requireSupported(name, packageOf(t, name, version)), refusal(name, version))
  })

function refusal(name: PackageName, version: string): { name: string; message: string } {
  const range = SUPPORTED_VERSIONS[name]
  return {
    name: 'BootError',
    message: `${name} ${version} is installed, but this version of Sequitur works with ${name} ${range}. Run: npm install "${name}@${range}"`,
  }
}

test('a library of the program that is no package with this name is accepted', (t) => {
  requireSupported('pg', {})
  requireSupported('pg', packageOf(t, 'pg-wrapper', '1.0.0'))
})

for (const [dialect, name] of [
  ['mysql', 'mysql2'],
  ['mariadb', 'mariadb'],
] as const)
  test(`a start with another version of ${name} fails, before it connects`, async (t) => {
    const start = (version: string) => {
      const dialectModule = packageOf(t, name, version)
      return newLifespan(new Sequelize({ dialect, dialectModule, logging: false }), { startTimeout: 0 }).start()
    }
    await assert.rejects(start('3.1.0'), refusal(name, '3.1.0'))
    await assert.rejects(start(name === 'mysql2' ? '3.24.5' : '3.5.4'), /too far/)
  })

test('a start with another version of sqlite3 fails', async (t) => {
  const dialectModule = Object.assign(packageOf(t, 'sqlite3', '5.1.7'), { verbose: () => dialectModule })
  const sequelize = new Sequelize({ dialect: 'sqlite', dialectModule, logging: false })
  await assert.rejects(newLifespan(sequelize).start(), refusal('sqlite3', '5.1.7'))
})

for (const [name, url] of [
  ['sequelize', 'sqlite:///:memory:'],
  ['pg', 'postgres://nowhere.invalid/none'],
] as const)
  test(`a start with another version of ${name} fails`, async () => {
    const { message } = refusal(name, '6.0.0')
    assert.equal(await startWithVersion(name, '6.0.0', url), `BootError: ${message}\n`)
  })

/** What a program prints that starts a database while the package.json of a package has this version. */
async function startWithVersion(name: string, version: string, url: string): Promise<string> {
  const program = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    import { newLifespan } from 'sequitur'
    const { readFileSync } = fs
    fs.readFileSync = (path, ...rest) => String(path).endsWith('/node_modules/${name}/package.json')
      ? JSON.stringify({ name: '${name}', version: '${version}' })
      : readFileSync(path, ...rest)
    syncBuiltinESMExports()
    const lifespan = newLifespan('${url}')
    await lifespan.start().then(() => lifespan.stop(), (error) => console.log(String(error)))`
  const args = ['--conditions=sequitur-source', '--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  return stdout
}

test('the supported versions are those of package.json', () => {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as Readonly<Record<'dependencies' | 'peerDependencies', Readonly<Record<string, string>>>>
  const declared = { ...dependencies, ...peerDependencies }
  for (const [name, range] of Object.entries(SUPPORTED_VERSIONS)) assert.equal(range, declared[name])
})
