// Runs the program of test/tools by every tool that docs/tools.md names, with the package as its users get it.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sequitur-tools-'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const tarball = `./sequitur-${version}.tgz`
const newNode = join('node_modules', '.bin', 'node')
const jest = ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--rootDir', '.', '-c']

try {
  cpSync(join(root, 'test/tools'), folder, { recursive: true })
  run(process.execPath, [join('scripts', 'build.js')], root)
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], root)
  run('npm', ['install', tarball, '--no-audit', '--no-fund', '--legacy-peer-deps'])

  run(newNode, ['--import', 'sequitur/register', 'src/main.ts'])
  run(join('node_modules', '.bin', 'bun'), ['src/main.ts'])
  for (const typescript of ['typescript', 'typescript7']) {
    run(process.execPath, [`node_modules/${typescript}/bin/tsc`, '--skipLibCheck', 'false'])
    run(process.execPath, ['dist/main.js'])
  }
  run(process.execPath, ['esbuild.js'])
  run(process.execPath, ['out/esbuild.js'])
  run(process.execPath, ['swc-build.js'])
  run(process.execPath, ['out/swc/main.js'])
  for (const vitest of ['vitest3', 'vitest4', 'vitest5']) run(newNode, [`node_modules/${vitest}/vitest.mjs`, 'run'])
  for (const config of ['jest.ts.js', 'jest.swc.js']) run(process.execPath, [...jest, config])

  run('npm', ['install', '@redocly/cli@latest', '--no-save', '--no-audit', '--no-fund', '--legacy-peer-deps'])
  run(process.execPath, [join(root, 'scripts/newest-client.js'), join(folder, 'node_modules/@redocly/cli')])

  run(process.execPath, ['node_modules/publint/src/cli.js', tarball, '--strict'])
  run(process.execPath, ['node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'esm-only'])
  console.log('\nAll tools work.')
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** @type {(command: string, parameters: string[], cwd?: string) => void} */
function run(command, parameters, cwd = folder) {
  console.log(`\n$ ${[command === process.execPath ? 'node' : command, ...parameters].join(' ')}`)
  const { error, status } = spawnSync(command, parameters, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 600_000,
  })
  if (error) throw error
  if (status !== 0) throw new Error(`It ended with the code ${status}.`)
}
