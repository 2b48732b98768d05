import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import { newLifespan, sql, withSession } from 'sequitur'
import { sequiturIn } from '../support/command.js'
import { sqliteFile } from '../support/databases.js'
import { linkPackages } from '../support/new-project.js'
import { serverUrl } from '../support/postgres.js'
import { root } from '../support/processes.js'
import { migratedDatabases, migrationFolder } from './migration-folder.js'

/** A project with a model of these columns, whose database is empty. */
async function project(t: TestContext, columns: string, url: () => Promise<string> = sqliteFile.url) {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-diff-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  linkPackages(folder)
  const toolkit_url = await url()
  const write = (text: string, boundary = '') => writeFileSync(join(folder, 'app.ts'), appOf(text, boundary))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "version": "2.1.0" }')
  write(columns)
  const as = (account: string, ...words: readonly string[]) => {
    const { status, stdout, stderr } = sequiturIn(folder, { toolkit_url: account }, 'migrate', 'app.ts', ...words)
    return { status, stdout, stderr }
  }
  const migrate = Object.assign((...words: readonly string[]) => as(toolkit_url, ...words), { as })
  const files = () => readdirSync(join(folder, 'migrations')).sort()
  const read = (index: number) => readFileSync(join(folder, 'migrations', files().at(index) ?? ''), 'utf8')
  const rename = (index: number, name: string) =>
    renameSync(join(folder, 'migrations', files().at(index) ?? ''), join(folder, 'migrations', name))
  return { migrate, write, files, read, rename, toolkit_url }
}

function appOf(columns: string, boundary: string): string {
  return `
import { Base, createApp, newLifespan } from 'sequitur'
import { Renamed } from 'sequitur/migrations'
import { tenancy } from 'sequitur/tenancy'
import { Column, DataType, Table } from 'sequelize-typescript'
export const names = [Renamed, tenancy]
@Table({ tableName: 'hero', timestamps: false })
export class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  ${columns}
}
export const app = createApp({ controllers: [], models: [Hero], lifespan: newLifespan(undefined, { ${boundary} }) })
`
}

const AGE = '@Column({ type: DataType.INTEGER, allowNull: true }) declare age: number | null'
const YEARS = AGE.replaceAll('age', 'years')

test('sequitur migrate diff writes a file, which up applies, and check passes then', async (t) => {
  const { migrate, files, read } = await project(t, AGE)
  assert.equal(migrate('check').status, 1)
  const { status, stdout } = migrate('diff', 'create-hero')
  assert.equal(status, 0)
  assert.match(stdout, /^migrations\/\d{8}-\d{4}-create-hero\.ts\n {2}hero {2}create table, 2 columns {2}at once\n$/)
  assert.equal(files().length, 1)
  assert.match(
    read(0),
    /^import \{ steps, sql \} from 'sequitur\/migrations'\n\nexport default steps\('sqlite', \[\n {2}sql`CREATE TABLE hero \(/,
  )
  const pending = migrate('diff', 'again')
  assert.deepEqual([pending.status, pending.stdout], [1, ''])
  assert.match(
    pending.stderr,
    /^Migrations are pending: \d{8}-\d{4}-create-hero\. Apply them first: sequitur migrate up/,
  )
  assert.equal(migrate('up').status, 0)
  assert.deepEqual(migrate('check'), {
    status: 0,
    stdout: 'The tables fit the models: there is nothing to migrate.\n',
    stderr: '',
  })
  assert.match(migrate('diff', 'nothing').stdout, /nothing to migrate/)
  assert.equal(files().length, 1)
})

test('sequitur migrate diff says once how columns get other types without a wait', async (t) => {
  const columns = (type: string) =>
    ['age', 'height'].map((name) => `@Column({ type: DataType.${type} }) declare ${name}: number`).join('\n')
  const postgres = migratedDatabases.find(({ kind }) => kind === 'postgres') ?? assert.fail('There is no PostgreSQL.')
  const { migrate, write } = await project(t, columns('INTEGER'), () => postgres.url())
  migrate('diff', 'create-hero')
  migrate('up')
  write(columns('DOUBLE'))
  const { stdout, stderr } = migrate('diff', 'measures')
  assert.equal(stderr, '')
  assert.match(
    stdout,
    /^hero\.age, hero\.height without that wait, in three releases:\n {2}1\. add a column, such as age_new, /m,
  )
  assert.equal(stdout.split('three releases').length, 2)
})

test('sequitur migrate diff asks whether a column has a new name: without a terminal it is an error with the flags', async (t) => {
  const { migrate, write, files } = await project(t, AGE)
  migrate('diff', 'create-hero')
  migrate('up')
  write(YEARS)
  const { status, stderr } = migrate('diff', 'years')
  assert.equal(status, 1)
  assert.match(stderr, /--rename hero\.age:years .*--new hero\.years .*--drop hero\.age/)
  assert.match(migrate('diff', 'years', '--rename', 'hero.age:years').stdout, /rename column age to years {2}at once/)
  assert.equal(migrate('up').status, 0)
  assert.deepEqual(files().length, 2)
  assert.equal(migrate('check').status, 0)
})

test('@Renamed() says the former name of a column, and has no effect once it is renamed', async (t) => {
  const { migrate, write, toolkit_url } = await project(t, AGE)
  migrate('diff', 'create-hero')
  migrate('up')
  await withSession(newLifespan(toolkit_url), (session) => session.execute(sql`INSERT INTO hero (age) VALUES (7)`))
  write(`@Renamed('age') ${YEARS}`)
  assert.match(migrate('diff', 'years').stdout, /rename column age to years/)
  migrate('up')
  assert.equal(migrate('check').status, 0)
  const rows = await withSession(newLifespan(toolkit_url), (session) => session.execute(sql`SELECT years FROM hero`))
  assert.deepEqual(rows, [{ years: 7 }])
})

test('sequitur migrate diff lists columns of no model, and drops them in a file whose name ends in -contract', async (t) => {
  const { migrate, write, files, read } = await project(t, AGE)
  migrate('diff', 'create-hero')
  migrate('up')
  write('')
  assert.match(
    migrate('diff', 'none').stdout,
    /^Not written: column hero\.age is in the database and not in the model\.\n {2}--rename hero\.age:<new name> .* --drop hero\.age /m,
  )
  assert.match(
    migrate('diff', 'drop-age', '--drop', 'hero.age').stdout,
    /-drop-age-contract\.ts\n {2}hero {2}make the table again: drop column age {2}rewrites 0 rows/,
  )
  assert.match(files().at(-1) ?? '', /-drop-age-contract\.ts$/)
  assert.match(read(-1), /^\/\/ Deletes what .* the release after 2\.1\.0 is$/m)
  assert.equal(migrate('up').status, 0)
})

test('a default that only the database has is listed by --strict, and dropped by --drop in a file of its own', async (t) => {
  const { migrate, write, files } = await project(t, AGE.replace('allowNull', 'defaultValue: 7, allowNull'))
  migrate('diff', 'create-hero')
  migrate('up')
  write(AGE)
  assert.equal(migrate('check').stdout, 'The tables fit the models: there is nothing to migrate.\n')
  assert.match(
    migrate('check', '--strict').stdout,
    /^Left alone: default 7 of hero\.age \(--drop hero\.age\.default\) is in the database, and no model has it\.$/m,
  )
  assert.match(
    migrate('diff', 'default', '--drop', 'hero.age.default').stdout,
    /hero {2}make the table again: age without a default {2}rewrites 0 rows/,
  )
  assert.match(files().at(-1) ?? '', /-default-contract\.ts$/)
  assert.equal(migrate('up').status, 0)
  assert.doesNotMatch(migrate('check', '--strict').stdout, /default/)
})

test('a column that a comment of the class leaves out is neither named nor taken for a former name', async (t) => {
  const { migrate, write } = await project(t, AGE)
  migrate('diff', 'create-hero')
  migrate('up')
  write('// without age')
  assert.deepEqual(migrate('check'), {
    status: 0,
    stdout: 'The tables fit the models: there is nothing to migrate.\n',
    stderr: '',
  })
  write(`// without age\n  ${YEARS}`)
  assert.match(migrate('diff', 'years').stdout, /add column years INTEGER {2}at once\n$/)
})

test('sequitur migrate diff names what people have to decide, and what they have misspelt', async (t) => {
  const { migrate, write } = await project(t, '')
  migrate('diff', 'create-hero')
  migrate('up')
  write('@Column({ type: DataType.STRING(50), allowNull: false }) declare power: string')
  const { status, stderr } = migrate('diff', 'power')
  assert.deepEqual(status, 1)
  assert.match(stderr, /^hero\.power is new, and NOT NULL without a default\. .*--backfill hero\.power=/)
  assert.match(
    migrate('diff', 'power', '--drop', 'hero.ids').stderr,
    /the database has no hero\.ids\. Did you mean 'hero\.id'\?/,
  )
  assert.match(migrate('diff', 'power', '--backfill', 'hero.pow=1').stderr, /no model has the column hero\.pow/)
  assert.match(migrate('diff').stderr, /Name the migration: sequitur migrate diff add-power/)
  assert.match(migrate('diff', '../power').stderr, /cannot be one of a migration/)
  assert.equal(migrate('diff', 'power', '--backfill', `hero.power='a, b'`).status, 0)
  assert.equal(migrate('up').status, 0)
})

test('--scratch compares with an empty database, in which the migrations are applied first', async (t) => {
  const { migrate, write } = await project(t, '')
  migrate('diff', 'create-hero')
  write(AGE)
  const scratch = await sqliteFile.url()
  assert.match(migrate('diff', 'age', '--scratch', scratch).stdout, /add column age INTEGER {2}at once/)
  assert.equal(migrate('check', '--scratch', scratch).status, 0)
  assert.match(migrate('up').stdout, /create-hero.*age/)
})

test('the file of sequitur migrate diff comes after all files of the folder, so that a new database is made in the same order', async (t) => {
  const { migrate, write, files, rename } = await project(t, '')
  migrate('diff', 'zzz')
  rename(0, '21001231-2359-zzz.ts')
  migrate('up')
  write(AGE)
  migrate('diff', 'age')
  assert.equal(files().at(-1), '21010101-0000-age.ts')
  assert.equal(migrate('up').stdout, 'Migrated: 21010101-0000-age\n')
  assert.equal(migrate('check', '--scratch', await sqliteFile.url()).status, 0)
})

for (const [name, pattern] of [
  ['create-big', /^z\d{8}-\d{4}-age\.ts$/],
  ['21001231101010-hero', /^21010101-1010-age\.ts$/],
  ['z21001231-2359-hero', /^z21010101-0000-age\.ts$/],
] as const)
  test(`the file of sequitur migrate diff comes after ${name}`, async (t) => {
    const { migrate, write, files, rename } = await project(t, '')
    migrate('diff', 'create-hero')
    rename(0, `${name}.ts`)
    migrate('up')
    write(AGE)
    assert.equal(migrate('diff', 'age').status, 0)
    assert.match(files().at(-1) ?? '', pattern)
    assert.equal(migrate('check', '--scratch', await sqliteFile.url()).status, 0)
  })

test('sequitur migrate check fails while a change is left to people', async (t) => {
  const { migrate, write } = await project(t, '', serverUrl)
  migrate('diff', 'create-hero')
  migrate('up')
  write('@Column({ type: DataType.INTEGER, primaryKey: true }) declare place: number')
  const key = /^Not written: hero: the primary key \(id\) cannot become \(id, place\) by itself\./m
  const { status, stdout } = migrate('check', '--backfill', 'hero.place=1')
  assert.deepEqual([status, key.test(stdout)], [1, true])
  assert.match(migrate('diff', 'place', '--backfill', 'hero.place=1').stdout, key)
})

const servers = migratedDatabases.filter(({ kind }) => kind !== 'sqlite')

for (const { name, kind, url } of servers)
  test(`${name}: sequitur migrate up and baseline say in one line which rights are missing`, async (t) => {
    const { migrate, toolkit_url } = await project(t, '', url)
    const run = (text: string) =>
      withSession(newLifespan(toolkit_url), (session) => session.execute({ kind: 'sql', texts: [text], values: [] }))
    const reader = `reader_${randomBytes(6).toString('hex')}`
    const own = new URL(toolkit_url)
    migrate('diff', 'create-hero')
    await run(
      kind === 'postgres' ? `CREATE ROLE ${reader} LOGIN PASSWORD 'x'` : `CREATE USER ${reader} IDENTIFIED BY 'x'`,
    )
    t.after(() => run(`DROP ${kind === 'postgres' ? 'ROLE' : 'USER'} ${reader}`))
    if (kind === 'mariadb') await run(`GRANT SELECT ON ${own.pathname.slice(1)}.* TO ${reader}`)
    Object.assign(own, { username: reader, password: 'x' })
    for (const action of ['up', 'baseline'])
      assert.match(
        migrate.as(own.href, action).stderr,
        new RegExp(`^sequitur migrate ${action} needs more rights: .* denied .*: "Rights of the account"\\.\n$`),
      )
  })

test('sequitur migrate check names what the model had unique', async (t) => {
  const name = (unique: string) =>
    `@Column({ type: DataType.STRING(50), allowNull: true${unique} }) declare name: string | null`
  const { migrate, write } = await project(t, name(', unique: true'))
  migrate('diff', 'create-hero')
  migrate('up')
  write(name(''))
  assert.match(
    migrate('check').stdout,
    /nothing to migrate\.\nLeft alone, in the database and not in the models: unique hero\.name\. --drop "unique hero\.name" deletes it\.\n$/,
  )
  assert.match(migrate('diff', 'drop-unique', '--drop', 'unique hero.name').stdout, /drop unique/)
})

test('sequitur migrate diff refuses a file that would come before one that is there', async (t) => {
  const { migrate, write, rename } = await project(t, '')
  migrate('diff', 'create-hero')
  rename(0, 'été.ts')
  migrate('up')
  write(AGE)
  assert.match(
    migrate('diff', 'age').stderr,
    /^\d{8}-\d{4}-age would come before été, by its name, on a new database\. Give that file, and its row of SequelizeMeta, a name/,
  )
})

test('--scratch refuses a database with tables of others, and leaves it as it was', async (t) => {
  const { migrate } = await project(t, '')
  migrate('diff', 'create-hero')
  const scratch = await sqliteFile.url()
  const run = (text: string) =>
    withSession(newLifespan(scratch), (session) => session.execute({ kind: 'sql', texts: [text], values: [] }))
  await run('CREATE TABLE cape (id INTEGER PRIMARY KEY)')
  const { status, stderr } = migrate('check', '--scratch', scratch)
  assert.equal(status, 1)
  assert.match(stderr, /^--scratch: the database has the table cape, and none of these migrations\. Name an empty/)
  assert.deepEqual(await run('SELECT name FROM sqlite_master'), [{ name: 'cape' }])
})

test('--scratch refuses a database whose rows pending migrations would change', async (t) => {
  const { migrate, write } = await project(t, '')
  migrate('diff', 'create-hero')
  const scratch = await sqliteFile.url()
  assert.equal(migrate('check', '--scratch', scratch).status, 0)
  const run = (text: string) =>
    withSession(newLifespan(scratch), (session) => session.execute({ kind: 'sql', texts: [text], values: [] }))
  await run('INSERT INTO hero (id) VALUES (7)')
  assert.equal(migrate('check', '--scratch', scratch).status, 0)
  write(AGE)
  migrate('diff', 'age', '--scratch', await sqliteFile.url())
  const { status, stderr } = migrate('check', '--scratch', scratch)
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^--scratch: the table hero has rows, and these migrations are not applied there: \d{8}-\d{4}-age\. Name an empty/,
  )
  assert.deepEqual(await run('SELECT * FROM hero'), [{ id: 7 }])
})

test('--scratch refuses a database whose rows a policy of PostgreSQL hides from the account', async (t) => {
  const { migrate, write } = await project(t, '', serverUrl)
  migrate('diff', 'create-hero')
  const scratch = new URL(await serverUrl())
  assert.equal(migrate('check', '--scratch', scratch.href).status, 0)
  const run = (text: string) =>
    withSession(newLifespan(scratch.href), ({ sequelize }) => sequelize.query(text, { type: QueryTypes.SELECT }))
  const reader = `reader_${randomBytes(6).toString('hex')}`
  await run(`CREATE ROLE ${reader} LOGIN PASSWORD 'x'`)
  t.after(() => run(`DROP OWNED BY ${reader}; DROP ROLE ${reader}`))
  await run(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${reader}`)
  await run('ALTER TABLE hero ENABLE ROW LEVEL SECURITY')
  const own = Object.assign(new URL(scratch), { username: reader, password: 'x' })
  write(AGE)
  migrate('diff', 'age', '--scratch', await serverUrl())
  // The table has no row: the account goes on, and may not change it.
  assert.doesNotMatch(migrate('check', '--scratch', own.href).stderr, /has rows/)
  await run('INSERT INTO hero DEFAULT VALUES')
  assert.match(migrate('check', '--scratch', own.href).stderr, /^--scratch: the table hero has rows, /)
})

test('tables of tenants get their policies', async (t) => {
  const tenant = '@Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number'
  const { migrate, write, read } = await project(t, '', serverUrl)
  migrate('diff', 'create-hero')
  migrate('up')
  const boundary = `boundary: tenancy({ of: () => undefined, column: 'tenant_id' })`
  write(tenant, boundary)
  assert.equal(migrate('diff', 'tenants', '--backfill', 'hero.tenant_id=1').status, 0)
  assert.match(
    read(-1),
    /ENABLE ROW LEVEL SECURITY`,\n.*FORCE ROW LEVEL SECURITY`,\n.*CREATE POLICY tenancy ON "hero" USING/,
  )
  assert.equal(migrate('up').status, 0)
  assert.equal(migrate('check').status, 0)
})

test('a table of tenants that is new gets its policies, too', async (t) => {
  const tenant = '@Column({ type: DataType.INTEGER, allowNull: false }) declare tenant_id: number'
  const { migrate, write, read } = await project(t, '', serverUrl)
  write(tenant, `boundary: tenancy({ of: () => undefined, column: 'tenant_id' })`)
  assert.match(migrate('diff', 'create-hero').stdout, /limit to a tenant/)
  assert.match(read(0), /CREATE POLICY tenancy/)
  assert.equal(migrate('up').status, 0)
  assert.equal(migrate('check').status, 0)
})

test('the guide: a column of the table has its former name, and the values are kept', async (t) => {
  const { path } = migrationFolder(t)
  const toolkit_url = await sqliteFile.url()
  const run = (sqlText: string) =>
    withSession(newLifespan(toolkit_url), (session) => session.execute({ kind: 'sql', texts: [sqlText], values: [] }))
  await run('CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(50) NOT NULL, age INTEGER NOT NULL)')
  await run(`INSERT INTO hero (name, age) VALUES ('Robin', 7)`)
  const module = 'example/guides/migrations.ts'
  const migrate = (...words: readonly string[]) =>
    sequiturIn(root, { toolkit_url }, 'migrate', module, ...words, '--dir', path)
  assert.match(
    migrate('diff', 'add-power').stdout,
    /rename column age to years +at once\n.*add column power VARCHAR\(50\) +at once/,
  )
  assert.equal(migrate('up').status, 0)
  assert.deepEqual(await run('SELECT name, years, power FROM hero'), [{ name: 'Robin', years: 7, power: null }])
  assert.equal(migrate('check').status, 0)
})

for (const { name, kind, url } of migratedDatabases.filter((database) => database.kind !== 'sqlite'))
  test(`${name}: what a difference counts may take longer than the statements of the program`, async () => {
    const database = newLifespan(await url(), { models: [], statementTimeout: 1_000 })
    const text = kind === 'postgres' ? 'SHOW statement_timeout' : 'SELECT @@max_statement_time AS statement_timeout'
    const [row] = await database.withModels(({ sequelize }) =>
      sequelize.query<{ readonly statement_timeout: unknown }>(text, { type: QueryTypes.SELECT }),
    )
    assert.equal(Number(row?.statement_timeout), 0)
  })
