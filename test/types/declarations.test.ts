// The same on both query paths: nothing is executed.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root, temporaryFolder } from '../support/processes.js'
import { tscCommand } from '../support/project.js'

/*
 * The declarations that are published lack what is marked as internal. A program that checks the declarations of its packages must compile.
 */

test('the declarations of all entry points compile without skipLibCheck', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly types?: string }>>
  }
  const paths = Object.fromEntries(
    Object.entries(exports).flatMap(([name, door]) =>
      typeof door === 'object' && door.types !== undefined
        ? [[`sequitur${name.slice(1)}`, [join(root, door.types)]]]
        : [],
    ),
  )
  const doors = Object.keys(paths)
  assert.ok(doors.length > 10)
  const folder = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    paths,
    types: ['node'],
    module: 'nodenext',
    target: 'es2023',
    experimentalDecorators: true,
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
  const imports = doors.map((door, n) => `import * as door${n} from '${door}'; void door${n}`)
  const use = `import { createApp } from 'sequitur'; import { Event, forward } from 'sequitur/feeds'
    @Event('hero.saved') class Saved {}
    createApp({ controllers: [], relays: [forward({ name: 'one', events: [Saved] }, async () => {})] })`
  writeFileSync(join(folder, 'main.ts'), [...imports, use].join('\n'))
  const { stdout, status } = spawnSync(process.execPath, [tscCommand, '-p', folder], { encoding: 'utf8', cwd: folder })
  assert.deepEqual({ stdout, status }, { stdout: '', status: 0 })
})
