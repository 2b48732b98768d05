// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { root, run, serve, temporaryFolder } from '../support/processes.js'

const programs = fileURLToPath(new URL('programs', import.meta.url))

/** A project that has the generated types, the programs, and what they import. */
async function newProject(url: string): Promise<string> {
  const folder = temporaryFolder()
  const document = await (await fetch(`${url}/openapi.json`)).text()
  writeFileSync(join(folder, 'api.d.ts'), astToString(await openapiTS(document)))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  for (const name of ['heroes.ts', 'wrong.ts']) copyFileSync(join(programs, name), join(folder, name))
  copyFileSync(join(root, 'example/client/all-heroes.ts'), join(folder, 'all-heroes.ts'))
  mkdirSync(join(folder, 'node_modules'))
  const openapiFetch = dirname(dirname(createRequire(import.meta.url).resolve('openapi-fetch')))
  symlinkSync(openapiFetch, join(folder, 'node_modules/openapi-fetch'))
  symlinkSync(root, join(folder, 'node_modules/sequitur'))
  return folder
}

const STRICT: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  customConditions: ['sequitur-source'],
}

/** What the compiler says of a file of a program, by its lines, which are counted from 1. */
function complaints(program: ts.Program, file: string): ReadonlyMap<number, string> {
  const source = program.getSourceFile(file)
  assert.ok(source)
  const diagnostics = [...program.getGlobalDiagnostics(), ...ts.getPreEmitDiagnostics(program, source)]
  return new Map(
    diagnostics.map(({ start = 0, messageText }) => [
      source.getLineAndCharacterOfPosition(start).line + 1,
      ts.flattenDiagnosticMessageText(messageText, '\n'),
    ]),
  )
}

test('a client made of the document with openapi-typescript lists, pages, creates and handles errors, in types', async (t) => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'heroes.sqlite')}`
  const { url, stop } = await serve(['example/main.ts'], { toolkit_url, PORT: '0' })
  const folder = await newProject(url)
  const [heroes, allHeroes, wrong] = ['heroes.ts', 'all-heroes.ts', 'wrong.ts'].map((name) => join(folder, name))
  assert.ok(heroes && allHeroes && wrong)
  const program = ts.createProgram([heroes, allHeroes, wrong], STRICT)

  await t.test('what it may do compiles under TypeScript 5, strict', () => {
    assert.deepEqual([...complaints(program, heroes)], [])
  })

  await t.test('the client of docs/pages.md compiles, and prints all heroes page by page', async () => {
    assert.deepEqual([...complaints(program, allHeroes)], [])
    const { code, output } = await run([allHeroes, url], {})
    const lines = output.trim().split('\n')
    assert.deepEqual([code, lines.length, lines[0]], [0, 12, 'THOR'])
  })

  await t.test('what it may not do does not compile', () => {
    const lines = readFileSync(wrong, 'utf8').split('\n')
    const marked = lines.flatMap((line, index) => (line.includes('// wrong') ? [index + 1] : []))
    assert.deepEqual([...complaints(program, wrong).keys()], marked)
  })

  await t.test('it runs', async () => {
    const { code, output } = await run([heroes, url], {})
    assert.equal(code, 0, output)
    const { listed, oldestFirst, ...rest } = JSON.parse(output) as Record<string, unknown> &
      Record<'listed' | 'oldestFirst', string[]>
    assert.equal(new Set(listed).size, 12)
    assert.equal(new Set(oldestFirst).size, 12)
    assert.deepEqual(oldestFirst.slice(0, 2), ['THOR, 1500', 'CAPTAIN AMERICA, 100'])
    assert.deepEqual(rest, {
      one: 'Superman',
      missing: '404 Hero not found',
      created: '201 Robin',
      duplicate: '409 Duplicate hero name',
      refusedBody: '422 The request does not fit its description.; body/age must be an integer',
      refusedQuery:
        '422 The request does not fit its description.; query/offset must be >= 0; query/limit must be <= 100',
    })
  })
  assert.equal(await stop(), 0)
})
