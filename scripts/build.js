// Compiles src into dist, from nothing, so that no file of a former build is published.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))

rmSync(join(root, 'dist'), { recursive: true, force: true })
const compiler = [join(typescript, 'bin', 'tsc'), '-p', 'tsconfig.build.json']
const { status, error } = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' })
if (error) throw error
process.exitCode = status ?? 1
