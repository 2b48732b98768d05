import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const LONG = Array.from({ length: 46 }, (_, at) => `x${at}`).join(' ')

test('the check of the English names the line of what is wrong in docs and in comments, and leaves code alone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sequitur-prose-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(
    join(folder, 'page.md'),
    `# A page\n\nIt goes on. \`goes on\` is code.\n\n\`\`\`ts\n// goes on\n\`\`\`\n\nIt is ${LONG}.\n`,
  )
  await writeFile(
    join(folder, 'program.ts'),
    `const nobody = 1 // goes on\n\n/**\n * It ends.\n * Nobody reads a apple.\n *\n * @example\n * it goes on\n */\nconst text = 'goes on'\n`,
  )
  const { status, stderr, stdout } = spawnSync(process.execPath, ['scripts/prose.js', folder], { encoding: 'utf8' })
  assert.deepEqual(
    stderr
      .trim()
      .split('\n')
      .map((line) => line.slice(folder.length + 1)),
    [
      'page.md:3 "goes on": write continue',
      'page.md:9 48 words from "It is x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x1": make two sentences',
      'program.ts:1 "goes on": write continue',
      'program.ts:5 Unexpected article `a` before `apple`, expected `an`',
      'program.ts:5 "Nobody": write no one',
    ],
  )
  assert.match(stdout, /^The English of 2 files: 5 findings\./)
  assert.equal(status, 1)
})
