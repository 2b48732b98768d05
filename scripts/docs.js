// npm run docs              builds the documentation site from the Markdown of the repository into site/dist
// npm run docs -- dev       serves it, and shows changes at once
// npm run docs -- preview   serves what was built
// The first run installs the packages of site/package.json.
import { spawnSync, spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { brokenAnchors, isInstalled, pages, root, site, writePage, writePages } from './site-pages.js'

const [command = 'build'] = process.argv.slice(2)
if (!['build', 'dev', 'preview'].includes(command)) {
  console.error(`There is no command ${command}. Write npm run docs -- build, dev or preview.`)
  process.exit(1)
}

const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js')
if (!isInstalled()) execute('npm', ['ci', '--no-audit', '--no-fund'])
if (command !== 'preview') writePages()
if (command === 'build') build()
else serve()

function build() {
  execute(process.execPath, [vitepress, 'build', '.'])
  const broken = brokenAnchors()
  if (broken.length === 0) return
  console.error(`These anchors do not exist:\n${broken.join('\n')}`)
  process.exitCode = 1
}

function serve() {
  if (command === 'dev') for (const page of pages) watch(join(root, page), () => writePage(page))
  const child = spawn(process.execPath, [vitepress, command, '.'], { cwd: site, stdio: 'inherit' })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => process.exit(code ?? 0))
}

/**
 * @param {string} program
 * @param {string[]} parameters
 */
function execute(program, parameters) {
  const { status, error } = spawnSync(program, parameters, { cwd: site, stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) process.exit(status ?? 1)
}
