// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { problemsOf } from '../scripts/release-check.js'
import { root } from '../scripts/site-pages.js'

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  readonly version: string
  readonly exports: Readonly<Record<string, unknown>>
}

test('docs/stability.md has each door of the package once, with its state', () => {
  const doors = Object.keys(manifest.exports).map((path) => path.replace(/^\./, 'sequitur'))
  const rows = [...read('docs/stability.md').matchAll(/^\| `([^`]+)` \| (stable|experimental) \|/gm)]
  assert.deepEqual(rows.map(([, door = '']) => door).toSorted(), doors.toSorted())
})

const ready = {
  manifest: {
    name: 'sequitur',
    version: '1.2.3',
    repository: { url: 'git+https://host.example/a/sequitur.git' },
    homepage: 'https://host.example/a/sequitur',
    bugs: { url: 'https://host.example/a/sequitur/issues' },
  },
  changelog: '# Changelog\n\n## 1.2.3\n\n- One thing.\n',
  security: 'Report it to security@host.example.',
  status: '',
}

test('a release that is ready has no problems, and each thing that is missing is one', () => {
  assert.deepEqual(problemsOf(ready), [])
  const { manifest: complete } = ready
  const broken = [
    [{ manifest: { ...complete, homepage: 'https://github.com/OWNER/sequitur' } }, /"homepage" is a placeholder/],
    [{ manifest: { ...complete, repository: undefined } }, /"repository" is a placeholder/],
    [{ manifest: { ...complete, bugs: { url: 'https://github.com/OWNER/x' } } }, /"bugs" is a placeholder/],
    [{ security: 'security@example.com (placeholder: none yet)' }, /SECURITY\.md/],
    [{ changelog: '# Changelog\n\n## Unreleased\n\n## 1.2.30\n' }, /no section "## 1\.2\.3"/],
    [{ status: ' M README.md\n' }, /not committed/],
  ] as const
  for (const [change, message] of broken) {
    const problems = problemsOf({ ...ready, ...change })
    assert.equal(problems.length, 1)
    assert.match(problems[0] ?? '', message)
  }
})
