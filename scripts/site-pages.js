// The pages of the documentation site: the Markdown of the repository, with links that work there.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../', import.meta.url))
export const site = join(root, 'site')
const target = join(site, 'pages')

/** The pages of the site, as files of the repository. */
export const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'example/README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]

/** Writes all pages, and the pictures that they show, into site/pages. */
export function writePages() {
  rmSync(target, { recursive: true, force: true })
  for (const page of pages) writePage(page)
}

/** @param {string} page */
export function writePage(page) {
  const { text, pictures } = pageOfSite(page)
  for (const picture of pictures) {
    mkdirSync(dirname(join(target, picture)), { recursive: true })
    copyFileSync(join(root, picture), join(target, picture))
  }
  const file = join(target, placeOf(page))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** A README is the first page of its folder. @param {string} page */
function placeOf(page) {
  return page.replace(/(^|\/)README\.md$/, '$1index.md')
}

/** A link or a picture that leads to a file of the repository: `[text](path#anchor)`, `![text](path)`. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)#:]+)(#[^)]+)?\)/g

/**
 * The text of a page with links of the site, and the pictures in it.
 * @param {string} page
 * @param {string | undefined} repository the address of the repository's web page
 */
export function pageOfSite(page, repository = repositoryUrl()) {
  /** @type {string[]} */
  const pictures = []
  const text = readFileSync(join(root, page), 'utf8')
    .split(/(^```.*?^```$)/ms)
    .map((part) =>
      part.startsWith('```')
        ? part
        : part.replaceAll(LINK, (_, mark, label, path, anchor = '') => {
            const file = join(dirname(page), path).replaceAll('\\', '/')
            if (!existsSync(join(root, file))) throw new Error(`${page} links to ${file}, which does not exist.`)
            if (mark) pictures.push(file)
            if (mark) return `![${label}](/${file})`
            if (pages.includes(file)) return `[${label}](/${placeOf(file)}${anchor})`
            return repository ? `[${label}](${repository}/blob/HEAD/${file})` : label
          }),
    )
    .join('')
  return { text, pictures }
}

/** Undefined while package.json names no repository: links to files that are no pages become plain text then. */
function repositoryUrl() {
  const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** Whether the search of the site finds a page. @param {string} page */
export function isSearched(page) {
  return !/^(?:CHANGELOG|CONTRIBUTING)\b/.test(page)
}

/** The groups of pages. */
export function sidebar() {
  const llms = readFileSync(join(root, 'llms.txt'), 'utf8')
  const groups = [...llms.matchAll(/^## (.+)\n\n((?:- .+\n)+)/gm)].map(([, group, items = '']) => ({
    text: group,
    items: [...items.matchAll(/^- \[(.+?)\]\((.+?)\)/gm)].map(([, text, page = '']) => ({
      text,
      link: `/${placeOf(page).replace(/(?:index)?\.md$/, '')}`,
    })),
  }))
  return groups.map((group) => ({ ...group, text: group.text === 'Optional' ? 'More' : group.text }))
}

/** The anchor of a heading, as on the repository's own pages. @param {string} heading */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')
}

/** Links of the built site to anchors that do not exist; VitePress itself checks only the pages. @returns {string[]} */
export function brokenAnchors(dist = join(site, 'dist'), base = process.env['DOCS_BASE'] ?? '/') {
  const names = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'))
  const html = new Map(names.map((name) => [name.replaceAll('\\', '/'), readFileSync(join(dist, name), 'utf8')]))
  return [...html].flatMap(([name, text]) =>
    [...text.matchAll(/href="(\/[^"#]*)?#([^"]+)"/g)].flatMap(([, path, anchor = '']) => {
      const found = path === undefined ? text : html.get(path.slice(base.length).replace(/(^|\/)$/, '$1index.html'))
      return found?.includes(` id="${anchor}"`) ? [] : [`${name}: ${path ?? ''}#${anchor}`]
    }),
  )
}

/** Whether the packages of site/package.json are installed. */
export function isInstalled() {
  return existsSync(join(site, 'node_modules/vitepress'))
}
