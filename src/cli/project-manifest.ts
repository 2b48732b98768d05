import { readFileSync } from 'node:fs'

/**
 * The folder of this package: the same from src/cli and from dist/cli. That of src/core/package-copies.ts would count this command as a copy of the
 * package next to that of the program.
 */
export const PACKAGE_ROOT = new URL('../../', import.meta.url)

/** The versions of packages, or the scripts, by name. */
type Strings = Readonly<Record<string, string>>

/** The package.json of this package, as far as the command needs it. */
interface OwnManifest {
  readonly version: string
  readonly engines: Strings
  readonly peerDependencies: Strings
  readonly devDependencies: Strings
}

export function ownManifest(): OwnManifest {
  return JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'))
}

const HOOK = '--import sequitur/register'

const SCRIPTS = {
  dev: `tsx watch ${HOOK} src/main.ts`,
  build: 'tsc -p tsconfig.build.json',
  start: 'node --enable-source-maps dist/main.js',
  test: `tsc && node --import tsx ${HOOK} --test test/*.test.ts`,
  migrate: `tsx ${HOOK} src/migrate.ts`,
}

/** The packages of a new project other than `sequitur`. */
const PEERS = ['sequelize', 'sequelize-typescript']
const TESTED = ['umzug']
const FOR_DEVELOPMENT = ['@types/node', 'tsx', 'typescript']

/** The names that a project cannot have: npm installs no package into one of the same name. */
export const DEPENDENCIES: readonly string[] = ['sequitur', ...PEERS, ...TESTED, ...FOR_DEVELOPMENT]

/** The package.json of a new project. Its dependencies have the versions with which this package is tested. */
export function projectManifest(name: string): { readonly scripts: Strings; readonly [field: string]: unknown } {
  const { version, engines, peerDependencies, devDependencies } = ownManifest()
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines,
    scripts: SCRIPTS,
    dependencies: { ...pick(peerDependencies, PEERS), sequitur: `^${version}`, ...pick(devDependencies, TESTED) },
    devDependencies: pick(devDependencies, FOR_DEVELOPMENT),
    // npm and yarn run the install scripts of these packages only; for pnpm see pnpm-workspace.yaml.
    allowScripts: { sqlite3: true, esbuild: false },
    dependenciesMeta: { sqlite3: { built: true } },
  }
}

function pick(versions: Strings, names: readonly string[]): Strings {
  return Object.fromEntries(names.map((name) => [name, versions[name] ?? '*']))
}
