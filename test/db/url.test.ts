import assert from 'node:assert/strict'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { DatabaseUrlError } from 'sequitur/errors'
import { type DatabaseConfig, describeDatabase, parseDatabaseUrl } from '../../src/db/config/url.js'

const here = (path: string) => resolve(process.cwd(), path)
const file = (storage: string, rest: object = {}) => ({ dialect: 'sqlite', storage, mode: 'rwc', options: {}, ...rest })
type Rest = { readonly host?: string; readonly port?: number; readonly [name: string]: unknown }
const server =
  (dialect: string, defaultPort: number) =>
  ({ host = 'h', port = defaultPort, ...rest }: Rest) => ({
    dialect,
    hosts: [{ host, port }],
    database: 'd',
    ssl: 'disable',
    options: {},
    ...rest,
  })
const postgres = server('postgres', 5432)
const mysql = server('mysql', 3306)
const hosts = (...list: readonly (readonly [host: string, port: number])[]) => ({
  hosts: list.map(([host, port]) => ({ host, port })),
})

const readings: readonly (readonly [url: string, config: object])[] = [
  ['sqlite+sqlite3:///./db%20x.sqlite?check_same_thread=false', file(here('db x.sqlite'))],
  ['sqlite+aiosqlite:///heroes.sqlite?check_same_thread=False', file(here('heroes.sqlite'))],
  ['sqlite:///data/../heroes.sqlite', file(here('heroes.sqlite'))],
  ['sqlite:////var/lib/heroes.sqlite', file(resolve('/var/lib/heroes.sqlite'))],
  ['sqlite:///a@b#c%3Fd.sqlite', file(here('a@b#c?d.sqlite'))],
  ['sqlite:///./:memory:', file(here(':memory:'))],
  ['sqlite:///a.sqlite?file_mode=0640', { ...file(here('a.sqlite')), options: { fileMode: 0o640 } }],
  ['sqlite:///a.sqlite?file_mode=664', { ...file(here('a.sqlite')), options: { fileMode: 0o664 } }],
  ['sqlite://', file(':memory:')],
  ['sqlite:///', file(':memory:')],
  ['sqlite:///:memory:', file(':memory:')],
  ['sqlite://:memory:', file(':memory:')],
  ['sqlite::memory:', file(':memory:')],
  ['sqlite:///x?mode=ro', file(here('x'), { mode: 'ro' })],
  ['sqlite:///x?timeout=0.25', file(here('x'), { options: { busyTimeout: 250 } })],
  ['sqlite:///x?timeout=0&echo=true', file(here('x'), { options: { busyTimeout: 0, echo: true } })],
  ['  SQLite:///x\n', file(here('x'))],

  ['postgres+pg://u:p%40ss@h/d?sslmode=require', postgres({ username: 'u', password: 'p@ss', ssl: 'require' })],
  ['postgresql+asyncpg://u@h:6000/d', postgres({ username: 'u', port: 6000 })],
  ['pg://us%65r:a:b@h:/d%2Fe', postgres({ username: 'user', password: 'a:b', database: 'd/e' })],
  ['postgres://u:a@b#c@h/d', postgres({ username: 'u', password: 'a@b#c' })],
  ['postgres://u:a+b@h/d', postgres({ username: 'u', password: 'a+b' })],
  ['postgres://[::1]:6000/d', postgres({ host: '::1', port: 6000 })],
  ['postgres://u@[fe80::1%25eth0]/d', postgres({ username: 'u', host: 'fe80::1%eth0' })],
  ['postgres:///d', postgres({ host: 'localhost' })],
  ['postgres://u@/d?host=/var/run/postgresql', postgres({ username: 'u', host: '/var/run/postgresql' })],
  ['postgres://u@:6000/d?host=/tmp', postgres({ username: 'u', host: '/tmp', port: 6000 })],
  ['postgres://%2Ftmp/d?sslmode=disable', postgres({ host: '/tmp' })],
  ['postgres://h/d?application_name=hero+app', postgres({ applicationName: 'hero app' })],
  ['postgres://h/d?target_session_attrs=prefer-standby', postgres({ target: 'prefer-standby' })],
  ['postgres://h/d?connect_timeout=1.5', postgres({ options: { connectTimeout: 1500 } })],
  ['postgres://h/d?sslmode=verify-ca', postgres({ ssl: 'verify-ca' })],
  ['postgres://h/d?sslmode=verify-full', postgres({ ssl: 'verify-full' })],
  [
    'postgres://h/d?pool_size=20&pool_timeout=2.5&echo=0',
    postgres({ options: { poolSize: 20, poolTimeout: 2500, echo: false } }),
  ],
  ['postgres://h/d?pool_size=20&max_overflow=10', postgres({ options: { poolSize: 30 } })],
  ['postgres://h/d?max_overflow=10', postgres({ options: { poolSize: 15 } })],

  ['mysql+mysql2://u:p@h/d?charset=utf8mb4', mysql({ username: 'u', password: 'p', charset: 'utf8mb4' })],
  ['mysql+aiomysql://h:3307/d?sslmode=verify-full', mysql({ port: 3307, ssl: 'verify-full' })],
  ['mariadb+mariadb://root@127.0.0.1/d', mysql({ dialect: 'mariadb', username: 'root', host: '127.0.0.1' })],

  ['mysql://u:p@a:3307,b/d', mysql({ username: 'u', password: 'p', ...hosts(['a', 3307], ['b', 3306]) })],
  [
    'mariadb://a,b:3307,c:/d?sslmode=require',
    mysql({ dialect: 'mariadb', ssl: 'require', ...hosts(['a', 3306], ['b', 3307], ['c', 3306]) }),
  ],
  ['postgres://u:p,q@a,b:6000/d', postgres({ username: 'u', password: 'p,q', ...hosts(['a', 5432], ['b', 6000]) })],
  [
    'postgres://u:p%40%2C@%61,[::1]:6000,[::1]/d',
    postgres({ username: 'u', password: 'p@,', ...hosts(['a', 5432], ['::1', 6000], ['::1', 5432]) }),
  ],
  ['postgres://a:1,a:2/d', postgres(hosts(['a', 1], ['a', 2]))],
]

for (const [url, config] of readings) {
  test(`${JSON.stringify(url)} is read`, () => assert.deepEqual(parseDatabaseUrl(url), config))
}

const allDrivers: Readonly<Record<DatabaseConfig['dialect'], readonly string[]>> = {
  sqlite: ['sqlite3', 'aiosqlite', 'pysqlite'],
  postgres: ['pg', 'asyncpg', 'psycopg', 'psycopg_async', 'psycopg2'],
  mysql: ['mysql2', 'aiomysql', 'asyncmy', 'pymysql'],
  mariadb: ['mariadb', 'aiomysql', 'asyncmy', 'pymysql'],
}
const spellings: readonly (readonly [dialect: DatabaseConfig['dialect'], name: string])[] = [
  ...(['sqlite', 'sqlite3'] as const).map((name) => ['sqlite', name] as const),
  ...(['postgres', 'postgresql', 'pg'] as const).map((name) => ['postgres', name] as const),
  ...(['mysql', 'mysql2'] as const).map((name) => ['mysql', name] as const),
  ['mariadb', 'mariadb'],
]

for (const [dialect, name] of spellings) {
  const rest = dialect === 'sqlite' ? ':///x' : '://h/d'
  for (const driver of new Set(Object.values(allDrivers).flat())) {
    const url = `${name}+${driver}${rest}`
    if (allDrivers[dialect].includes(driver)) {
      test(`${url} means ${dialect}`, () => assert.deepEqual(parseDatabaseUrl(url), parseDatabaseUrl(dialect + rest)))
    } else {
      test(`${url} is refused: the driver is not of ${dialect}`, () => {
        assert.throws(() => parseDatabaseUrl(url), new RegExp(`"${driver}" is a driver of .*, not of ${dialect}\\.`))
      })
    }
  }
}

test('a path is relative to the working directory of the moment', (t) => {
  const before = process.cwd()
  t.after(() => process.chdir(before))
  process.chdir(import.meta.dirname)
  const config = parseDatabaseUrl('sqlite:///./heroes.sqlite')
  assert.equal(config.dialect === 'sqlite' && config.storage, join(import.meta.dirname, 'heroes.sqlite'))
})

const refusals: readonly (readonly [what: string, url: string, message: RegExp])[] = [
  ['an empty text', '', /not <dialect>\[\+<driver>\]:\/\/.* Write for example sqlite:\/\/\//],
  ['a bare path', './heroes.sqlite', /not <dialect>/],
  ['a dialect without slashes', 'sqlite:heroes.sqlite', /not <dialect>/],
  [
    'an unknown dialect',
    'mssql+pyodbc://h/d',
    /unknown dialect "mssql"\. Write sqlite, postgres, mysql, or mariadb,.* give an instance: newLifespan\(new Sequelize\(/,
  ],
  [
    'an unknown driver',
    'postgres+rust://h/d',
    /postgres has no driver "rust"\. Its drivers are pg, .* Write postgres\+pg:\/\//,
  ],
  ['an empty driver', 'postgres+://h/d', /not <dialect>/],

  ['a SQLite path after two slashes', 'sqlite://heroes.sqlite', /three slashes .* \(sqlite:\/\/\/\.\/heroes\.sqlite\)/],
  ['a SQLite host', 'sqlite://localhost/heroes.sqlite', /is a host, and SQLite has none/],
  ['a file: name', 'sqlite:///file:heroes.sqlite?mode=ro&uri=true', /file: names are not supported/],
  ['a badly encoded path', 'sqlite:///100%.sqlite', /the path is not percent-encoded/],
  ['a path with NUL', 'sqlite:///a%00b', /the path contains a NUL/],

  [
    'an unknown option',
    'sqlite:///x?cache=shared',
    /sqlite has no option "cache"\. The options are mode, timeout, file_mode, check_same_thread,/,
  ],
  ['an option of another dialect', 'mysql://h/d?application_name=x', /mysql has no option "application_name"/],
  ['an option given twice', 'sqlite:///x?mode=ro&mode=rw', /the option mode appears twice/],
  ['an unknown mode', 'sqlite:///x?mode=memory', /the option mode takes ro, rw, or rwc/],
  ['a timeout below zero', 'sqlite:///x?timeout=-1', /the option timeout takes a number of seconds/],
  ['a pool of none', 'postgres://h/d?pool_size=0', /the option pool_size takes a whole number from 1/],
  ['a pool without bounds', 'postgres://h/d?max_overflow=-1', /the option max_overflow takes a whole number from 0/],
  ['half a connection', 'postgres://h/d?pool_size=1.5', /the option pool_size takes a whole number/],
  ['a wait that never ends', 'postgres://h/d?pool_timeout=1e9', /the option pool_timeout takes a number of seconds/],
  [
    'a wait of no time',
    'postgres://h/d?pool_timeout=0',
    /the option pool_timeout takes a number of seconds from 0\.001/,
  ],
  ['a mode that is not octal', 'sqlite:///a.sqlite?file_mode=688', /the option file_mode takes an octal mode/],
  [
    'a mode that its owner cannot write',
    'sqlite:///a.sqlite?file_mode=0440',
    /the option file_mode takes an octal mode/,
  ],
  ['a flag that is neither', 'postgres://h/d?echo=debug', /the option echo takes true or false/],
  [
    'sslmode=prefer',
    'postgres://h/d?sslmode=prefer',
    /takes disable, require, verify-ca, or verify-full; prefer and allow are refused.*write require/,
  ],
  [
    'sslmode=allow',
    'mysql://h/d?sslmode=allow',
    /takes disable, require, verify-ca, or verify-full; prefer and allow are refused.*write require/,
  ],
  ['TLS over a unix socket', 'postgres:///d?host=/tmp&sslmode=require', /a unix socket has no TLS/],
  ['a host name as an option', 'postgres:///d?host=h', /the option host takes the absolute directory of a unix socket/],
  ['two hosts', 'postgres://h/d?host=/tmp', /there are two hosts/],
  ['a charset that is none', 'mysql://h/d?charset=', /the option charset takes utf8mb4 or utf8;/],
  [
    'a charset with letters that become quotes',
    'mariadb://h/d?charset=latin1',
    /the option charset takes utf8mb4 or utf8;/,
  ],

  ['no database', 'postgres://u@h', /the name of the database is missing\. Write postgres:\/\/user@host\/database/],
  [
    'an empty database',
    'mariadb://u@h/',
    /the name of the database is missing\. Write mariadb:\/\/user@host\/database/,
  ],
  ['two databases', 'postgres://u@h/d/e', /a second slash after the host/],
  ['a comma without a host behind it', 'postgres://u@h,/d', /one of the hosts has no name\. .*user@a:port,b:port/],
  ['a comma without a host before it', 'mariadb://u@:3307,h/d', /one of the hosts has no name/],
  ['a host that appears twice', 'mysql://u@h,i,h:3306/d', /the host h:3306 appears twice\. Write each host once/],
  [
    'a wrong port of the second host',
    'mysql://u@h,i:0/d',
    /a port of 1 to 65535 or none\. Write .*host:port,host:port/,
  ],
  ['several hosts and a directory', 'postgres://u@h,i/d?host=/tmp', /there are two hosts/],
  ['TLS over one unix socket of several', 'postgres://u@h,%2Ftmp/d?sslmode=require', /a unix socket has no TLS/],
  ['IPv6 without brackets', 'postgres://u@::1/d', /\[::1\]/],
  ['brackets around a name', 'postgres://u@[h]/d', /must be a host/],
  ['port 0', 'postgres://u@h:0/d', /a port of 1 to 65535/],
  ['port 65536', 'postgres://u@h:65536/d', /a port of 1 to 65535/],
  ['a port in letters', 'postgres://u@h:pg/d', /a port of 1 to 65535/],
  ['a slash in the password', 'postgres://u:a/b@h/d', /an @ after the host\. .*\/ is %2F/],
  ['a question mark in the password', 'postgres://u:a?b@h/d', /an @ after the host\. .*\? is %3F/],
  [
    'a percent sign in the password',
    'postgres://u:100%@h/d',
    /the password is not percent-encoded UTF-8\. Write % as %25/,
  ],
  ['a NUL in the user name', 'postgres://u%00v@h/d', /the user name contains a NUL/],
]

for (const [what, url, message] of refusals) {
  test(`${what} is refused, with the origin of the URL and what to write`, () => {
    assert.throws(
      () => parseDatabaseUrl(url, 'toolkit_url'),
      (error) => {
        assert(error instanceof DatabaseUrlError)
        assert.match(error.message, /^toolkit_url: /)
        assert.match(error.message, message)
        return true
      },
    )
  })
}

test('a URL without a named origin is called the database URL', () => {
  assert.throws(() => parseDatabaseUrl('nothing'), { name: 'DatabaseUrlError', message: /^the database URL: / })
})

// Random texts, the same in every run.
let state = 42
function below(bound: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * bound)
}
function randomText(letters: readonly string[], least: number): string {
  return Array.from({ length: least + below(12) }, () => letters[below(letters.length)]).join('')
}
const anyLetter = [...'abcXYZ019 -._~!$&\'()*+,;=:@/?#[]%"<>\\^`{|}\n\tßé€漢😀']
const randomTexts = Array.from({ length: 300 }, () => randomText(anyLetter, 1))

test('every user name, password and database survives being written in a URL', () => {
  for (const text of randomTexts) {
    const part = encodeURIComponent(text)
    for (const dialect of ['postgres', 'mysql', 'mariadb'] as const) {
      const config = parseDatabaseUrl(`${dialect}://${part}:${part}@h:1/${part}`)
      assert(config.dialect !== 'sqlite')
      assert.deepEqual([config.username, config.password, config.database], [text, text, text])
    }
  }
})

test('every list of hosts survives being written in a URL, with every password', () => {
  for (const password of randomTexts) {
    const list = Array.from({ length: 1 + below(5) }, (_, index) => ({
      host: below(3) === 0 ? `2001:db8::${index}` : `${index}${password.replaceAll(/[^a-z]/g, '')}.example`,
      ...(below(2) === 0 ? {} : { port: 1 + below(65_535) }),
    }))
    const written = list.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}${port ? `:${port}` : ''}`)
    const config = parseDatabaseUrl(`mysql://u:${encodeURIComponent(password)}@${written.join()}/d`)
    assert(config.dialect !== 'sqlite')
    assert.deepEqual([config.password, config.hosts], [password, list.map((host) => ({ port: 3306, ...host }))])
  }
})

test('every file name survives being written in a URL', () => {
  for (const text of randomTexts) {
    const name = `n${text.replaceAll('/', '')}`
    const config = parseDatabaseUrl(`sqlite:///${encodeURIComponent(name)}`)
    assert.equal(config.dialect === 'sqlite' && config.storage, here(name))
  }
})

const accounts = refusals.filter(([, url]) => /:\/\/[^/?]*\w@/.test(url))
const broken = [
  ...accounts.map(([, url]) => url.replace(/:\/\/[^@]*@/, '://u:PASSWORD@')),
  ...refusals.map(([, url]) => url.replace(/:\/\/(?=h|\/d)/, '://u:PASSWORD@')),
  'mssql://sa:PASSWORD@h/d',
  'sqlite://u:PASSWORD@h/d',
  'sqlite+asyncpg://u:PASSWORD@h/d',
  'u:PASSWORD@h/d',
  'postgres:u:PASSWORD@h/d',
  'postgres://:PASSWORD@h',
  'postgres://PASSWORD@h:x/d',
  'postgres://u:%zzPASSWORD@h/d',
  'postgres://u:PASSWORD%00@h/d',
  'postgres://u@h/d?password=PASSWORD',
  'postgres://u@h/d?sslmode=PASSWORD',
].filter((url) => url.includes('PASSWORD'))
// Without a host behind it, `u:a@b/c` is a whole URL: user u, password a, host b, database c.
const withoutHost = ['postgres://u:PASSWORD', 'postgres://u:PASSWORD/d', 'postgres://u:PASSWORD?echo=1']

test('no message and no description contains a password, as it is or encoded, or a piece of it', () => {
  for (const text of randomTexts) {
    const password = `S3cr${text}t0ken`
    const encoded = encodeURIComponent(password)
    const messages = [
      ...broken.flatMap((url) => [password, encoded].map((written) => url.replace('PASSWORD', () => written))),
      ...withoutHost.map((url) => url.replace('PASSWORD', () => encoded)),
    ].map(messageOrDescription)
    for (const piece of [password, encoded, 'S3cr', 't0ken']) {
      assert.deepEqual(
        messages.filter((line) => line.includes(piece)),
        [],
        `${password} was shown`,
      )
    }
  }
})

function messageOrDescription(url: string): string {
  try {
    return describeDatabase(parseDatabaseUrl(url, 'toolkit_url'))
  } catch (error) {
    assert(error instanceof DatabaseUrlError)
    return error.message
  }
}

const descriptions: readonly (readonly [url: string, description: string])[] = [
  ['sqlite:///heroes.sqlite', 'sqlite ./heroes.sqlite'],
  ['sqlite:////var/lib/heroes.sqlite', `sqlite ${resolve('/var/lib/heroes.sqlite')}`],
  ['sqlite://', 'sqlite :memory:'],
  ['postgres://user:p%40ss@host/db', 'postgres user@host:5432/db'],
  ['postgres://user@[::1]:6000/db', 'postgres user@[::1]:6000/db'],
  ['postgres:///db?host=/tmp', 'postgres /tmp:5432/db'],
  ['mariadb://host/db', 'mariadb host:3306/db'],
  ['mariadb://user:pass@a:3307,[::1],b/db', 'mariadb user@a:3307,[::1]:3306,b:3306/db'],
]

for (const [url, description] of descriptions) {
  test(`${url} is described as ${description}`, () => {
    assert.equal(describeDatabase(parseDatabaseUrl(url)), description)
  })
}
