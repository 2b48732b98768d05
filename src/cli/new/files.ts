import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PackageManager } from '../../core/package-manager.js'
import { PACKAGE_ROOT } from '../own-package.js'
import type { Choices } from './choices.js'
import { projectManifest } from './manifest.js'
import { forPackageManager } from './package-managers.js'

/**
 * A folder for each layer of a project, whose files replace those of the layers before. Names with `dot.` are those of hidden files, which npm would not
 * pack, or would read.
 */
const TEMPLATE = fileURLToPath(new URL('template/', PACKAGE_ROOT))
/** The name of the project in the template. */
const PLACEHOLDER = 'my-api'
/** Its text is added to that of README.md. */
const ADDED = 'README.add.md'

/** The texts of the files of a project, by their paths. */
export function projectFiles(
  name: string,
  choices: Choices,
  manager: PackageManager['name'],
): ReadonlyMap<string, string> {
  const { database, auth, client } = choices
  const files = new Map<string, string>()
  for (const layer of ['base', ...database.layers, ...auth.layers, ...(client ? ['page'] : [])])
    for (const [path, text] of filesOf(layer))
      if (path === ADDED) files.set('README.md', `${files.get('README.md')}${text}`)
      else files.set(path, text)
  const [shown, wanted] = [`'sqlite+sqlite3:///./${PLACEHOLDER}.sqlite'`, `'${database.defaultUrl(name)}'`]
  const manifest = `${JSON.stringify(projectManifest(name, choices), undefined, 2)}\n`
  return new Map([
    ['package.json', manifest],
    ...[...files].map(([path, text]): [string, string] => [
      path,
      forPackageManager(manager, path, text).replace(shown, wanted).replaceAll(PLACEHOLDER, name),
    ]),
  ])
}

function filesOf(layer: string): [path: string, text: string][] {
  const folder = join(TEMPLATE, layer)
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => [path.replaceAll(/(^|[\\/])dot\./g, '$1.'), readFileSync(join(folder, path), 'utf8')])
}
