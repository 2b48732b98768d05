// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { anchorOf, brokenAnchors, pageOfSite, pages, sidebar } from '../scripts/site-pages.js'

const REPOSITORY = 'https://host.example/owner/sequitur'

test('a link to a page leads to the page of the site, with its anchor', () => {
  const { text } = pageOfSite('docs/errors.md', REPOSITORY)
  assert.ok(text.includes('(/docs/transactions.md#undo-a-part-nested)'))
  assert.doesNotMatch(text, /\]\((?:\.\.\/|\w+\.md)/)
})

test('a link to another file leads to the repository, or is plain text where package.json names none', () => {
  const heading = (repository: string) => pageOfSite('docs/testing.md', repository).text
  assert.ok(
    heading(REPOSITORY).includes(
      '[`example/recipes/mailer.test.ts`](https://host.example/owner/sequitur/blob/HEAD/example/recipes/mailer.test.ts):',
    ),
  )
  assert.ok(heading('').includes('\n`example/recipes/mailer.test.ts`:\n'))
})

test('code is unchanged, and pictures are copied', () => {
  const { text, pictures } = pageOfSite('README.md', REPOSITORY)
  assert.ok(text.includes("@Get('/:hero_id', Item.of(HeroModel))"))
  assert.deepEqual(pictures.toSorted(), ['bench/comparison.svg', 'bench/pages.svg', 'docs/docs-page.png'])
})

test('the sidebar leads to every page of docs/', () => {
  const linked = sidebar().flatMap(({ items }) => items.map(({ link }) => link))
  const missing = pages.filter((page) => page.startsWith('docs/') && !linked.includes(`/${page.replace('.md', '')}`))
  assert.deepEqual(missing, [])
})

test('a link to an anchor that the built page does not have is reported', (t) => {
  const dist = mkdtempSync(join(tmpdir(), 'sequitur-site-'))
  t.after(() => rmSync(dist, { recursive: true, force: true }))
  mkdirSync(join(dist, 'docs'))
  writeFileSync(join(dist, 'docs/a.html'), `<h2 id="${anchorOf('The `log`')}">`)
  const links = ['/docs/a.html#the-log', '/docs/a.html#other', '#here', '/#top']
  writeFileSync(join(dist, 'index.html'), `<h1 id="top">${links.map((link) => `<a href="${link}">`).join('')}`)
  assert.deepEqual(brokenAnchors(dist), ['index.html: /docs/a.html#other', 'index.html: #here'])
})

test('each page of docs/ is in one of the four groups, once', () => {
  const groups = sidebar().slice(0, -1)
  assert.deepEqual(
    groups.map(({ text }) => text),
    ['Start', 'Guides', 'Operation', 'Reference'],
  )
  const links = groups.flatMap(({ items }) => items.map(({ link }) => `${link.slice(1)}.md`))
  assert.deepEqual(links.toSorted(), pages.filter((page) => page.startsWith('docs/')).toSorted())
  assert.equal(groups[0]?.items[0]?.link, '/docs/tutorial')
})
