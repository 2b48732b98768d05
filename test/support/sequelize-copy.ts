import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = realpathSync(join(root, 'node_modules'))

/** Packages that are copied; all others are linked. */
const COPIED = ['sequelize', 'sequelize-typescript']

/** A copy of this project that uses a copy of Sequelize, in which members can be renamed. */
export class SequelizeCopy {
  readonly #folder = realpathSync(mkdtempSync(join(tmpdir(), 'sequitur-renamed-')))
  readonly #lib = join(this.#folder, 'node_modules/sequelize/lib')
  readonly #originals: ReadonlyMap<string, string>

  constructor() {
    after(() => rmSync(this.#folder, { recursive: true, force: true }))
    mkdirSync(join(this.#folder, 'node_modules'))
    for (const name of readdirSync(packages))
      if (!COPIED.includes(name) && name !== 'sequitur-client-test')
        symlinkSync(join(packages, name), join(this.#folder, 'node_modules', name))
    for (const name of COPIED)
      cpSync(join(packages, name), join(this.#folder, 'node_modules', name), { recursive: true, dereference: true })
    cpSync(join(root, 'package.json'), join(this.#folder, 'package.json'))
    bundleSource(join(this.#folder, 'dist/core/sequitur.js'))
    const names = readdirSync(this.#lib, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'))
    this.#originals = new Map(names.map((name) => [join(this.#lib, name), readFileSync(join(this.#lib, name), 'utf8')]))
  }

  /** Starts a database with this URL, with these members renamed everywhere in Sequelize. Returns what the program prints. */
  async start(url: string, members: readonly string[] = []): Promise<string> {
    const names = new RegExp(`(?<![-/])\\b(?:${members.join('|')})\\b(?![-/])`, 'g')
    if (members.length > 0)
      for (const [path, text] of this.#originals) writeFileSync(path, text.replaceAll(names, '$&_renamed'))
    const program = join(this.#folder, 'start.js')
    writeFileSync(
      program,
      `import { newLifespan } from './dist/core/sequitur.js'
       await newLifespan('${url}').start().then(() => console.log('started'), (error) => console.log(String(error)))
       process.exit()`,
    )
    try {
      return await run(program, this.#folder)
    } finally {
      for (const [path, text] of this.#originals) writeFileSync(path, text)
    }
  }
}

/** One file, which the programs import in a third of the time. In dist/core, import.meta.url has the same depth as in src/core. */
function bundleSource(outfile: string): void {
  buildSync({
    entryPoints: [join(root, 'src/index.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    ignoreAnnotations: true,
    logLevel: 'error',
  })
}

function run(program: string, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program], { cwd, timeout: 60_000 }, (_, stdout, stderr) => resolve(stdout + stderr))
  })
}
