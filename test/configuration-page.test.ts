// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createApp, newLifespan } from 'sequitur'
import { metrics } from 'sequitur/metrics'
import { openTelemetry } from 'sequitur/opentelemetry'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Row {
  readonly group: string
  readonly code: string | undefined
  readonly url: string | undefined
  readonly environment: readonly string[]
}

/** The rows of the table in docs/configuration.md; a row with a bold first cell begins a group. */
function rows(): readonly Row[] {
  const lines = readFileSync(join(root, 'docs/configuration.md'), 'utf8').split('\n')
  let group = ''
  return lines.flatMap((line) => {
    const cells = line.split('|').slice(1, -1)
    const [code = '', url = '', environment = ''] = cells
    group = /\*\*`(.+)`\*\*/.exec(code)?.[1] ?? group
    if (cells.length !== 6 || group === '' || code.includes('**')) return []
    for (const [index, cell] of cells.entries())
      assert.ok(index < 3 || cell.trim() !== '', `the type, the default or the meaning is missing: ${line}`)
    const names = namesIn(environment)
    return { group, code: namesIn(code)[0], url: namesIn(url)[0], environment: names }
  })
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

function documented(group: string): string[] {
  return rows().flatMap((row) => (row.group === group ? (row.code ?? []) : []))
}

/** The options that an error for an unknown one lists. */
function optionsOf(refuse: () => unknown, list: RegExp): string[] {
  try {
    refuse()
  } catch (error) {
    const [, names = ''] = list.exec((error as Error).message) ?? []
    return names.split(/, and |, | and /).toSorted()
  }
  return []
}

const LISTED = / (?:are|Use one of) ([\w, ]+)\.$/

for (const [group, refuse] of [
  ['createApp({ ... })', (options: object) => createApp({ controllers: [], ...options })],
  ['createApp({ log: { ... } })', (log: object) => createApp({ controllers: [], log })],
  ['createApp({ queryBudget: { ... } })', (queryBudget: object) => createApp({ controllers: [], queryBudget })],
  ['createApp({ timeouts: { ... } })', (timeouts: object) => createApp({ controllers: [], timeouts })],
  ['createApp({ health: { ... } })', (health: object) => createApp({ controllers: [], health })],
  ['openTelemetry({ ... })', (options: object) => openTelemetry(options)],
  ['metrics({ ... })', (options: object) => metrics(options)],
] as const) {
  test(`the page lists the options of ${group}`, () => {
    assert.deepEqual(
      documented(group).toSorted(),
      optionsOf(() => refuse({ quux: 1 }), LISTED),
    )
  })
}

test('the page lists the options of newLifespan()', () => {
  const options = optionsOf(() => newLifespan('sqlite://', { quux: 1 } as object), LISTED)
  assert.deepEqual(documented('newLifespan(url, { ... })').toSorted(), [...options, 'url'].toSorted())
})

test('the page lists the parameters of URLs, of every dialect', async () => {
  const found = new Set<string>()
  for (const url of ['sqlite:///a', 'postgres://h/a', 'mysql://h/a', 'mariadb://h/a']) {
    const message = await newLifespan(`${url}?quux=1`)
      .start()
      .then(() => '', String)
    const [, names = ''] = LISTED.exec(message) ?? []
    assert.notEqual(names, '', url)
    for (const name of names.split(/, and |, /)) found.add(name)
  }
  assert.deepEqual(
    rows()
      .flatMap(({ url }) => url ?? [])
      .toSorted(),
    [...found].toSorted(),
  )
})

test('the page lists the environment variables that the source reads', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
  const read = sources.flatMap((text) =>
    [...text.matchAll(/'(toolkit_\w+|DATABASE_URL)'/g)].map(([, name = '']) => name),
  )
  assert.deepEqual(
    [...new Set(rows().flatMap(({ environment }) => environment))].toSorted(),
    [...new Set(read)].toSorted(),
  )
})

test('the source reads the environment only by these names, messages the package manager and the test runner, a warning whether it runs in production, Node its own options, the generator of clients all of it, and settings() what the program declares', () => {
  const direct = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => /\.[jt]s$/.test(name) && readFileSync(join(root, 'src', name), 'utf8').includes('process.env'),
  )
  assert.deepEqual(direct.map((name) => basename(name)).toSorted(), [
    'build-app.ts',
    'emitted-types.ts',
    'environment.ts',
    'generator.ts',
    'package-manager.ts',
    'settings.ts',
    'unhandled-rejections.ts',
  ])
})
