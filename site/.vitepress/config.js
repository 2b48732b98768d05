import { defineConfig } from 'vitepress'
import { anchorOf, sidebar } from '../../scripts/site-pages.js'

export default defineConfig({
  title: 'Sequitur',
  description: 'A decorator-driven micro framework for TypeScript: the response follows the commit.',
  srcDir: 'pages',
  outDir: 'dist',
  base: process.env['DOCS_BASE'] ?? '/',
  lastUpdated: false,
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify: anchorOf } },
  themeConfig: { sidebar: sidebar(), outline: 'deep', search: { provider: 'local' } },
})
