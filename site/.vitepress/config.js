import { defineConfig } from 'vitepress'
import { anchorOf, isSearched, sidebar } from '../../scripts/site-pages.js'

/**
 * The text of a page for the search: what has changed, and how to contribute, is not what a reader of the documentation looks for.
 *
 * @param {string} source
 * @param {import('vitepress').MarkdownEnv} env
 * @param {import('vitepress').MarkdownRenderer} markdown
 */
function searched(source, env, markdown) {
  return isSearched(env.relativePath) ? markdown.render(source, env) : ''
}

export default defineConfig({
  title: 'Sequitur',
  description: 'A decorator-driven micro framework for TypeScript: the response follows the commit.',
  srcDir: 'pages',
  outDir: 'dist',
  base: process.env['DOCS_BASE'] ?? '/',
  lastUpdated: false,
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify: anchorOf } },
  themeConfig: { sidebar: sidebar(), outline: 'deep', search: { provider: 'local', options: { _render: searched } } },
})
