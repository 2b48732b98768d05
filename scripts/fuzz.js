// node scripts/fuzz.js [minutes, 60 by default] [file...]
// Runs every law that is tried with random inputs, over and over, with many more inputs than `npm test` gives it.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [minutes = '60', ...given] = process.argv.slice(2)
const end = Date.now() + Number(minutes) * 60_000
if (!(Number(minutes) > 0)) {
  console.error(`The first argument is a number of minutes, got '${minutes}'.`)
  process.exit(1)
}

const laws = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
  .map((name) => join('test', name))
  .filter((name) => readFileSync(name, 'utf8').includes('runs('))
const files = given.length > 0 ? given : laws.sort()

// The longer there is time, the more inputs each law gets in a round.
for (let factor = 4; Date.now() < end; factor = Math.min(factor * 2, 32)) {
  console.log(`\n${files.length} files, ${factor} times as many inputs`)
  const args = [fileURLToPath(new URL('test.js', import.meta.url)), '--test-timeout=3000000', ...files]
  const { status } = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, FUZZ_FACTOR: String(factor) },
  })
  if (status !== 0) process.exit(status ?? 1)
}
