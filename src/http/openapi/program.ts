import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The title and the version of an API that declares none: those of the program's package.json. */
export interface Program {
  readonly title: string
  readonly version: string
}

const UNKNOWN: Program = { title: 'API', version: '0.0.0' }

/** Reads the nearest package.json above the main file of the process; of a command in node_modules, above the current directory. */
export function programOf([, main = '']: readonly string[], currentDirectory: () => string): Program {
  const isCommand = main === '' || /[/\\]node_modules[/\\]/.test(main)
  try {
    return nearest(isCommand ? currentDirectory() : dirname(main)) ?? UNKNOWN
  } catch {
    return UNKNOWN // the current directory was removed
  }
}

function nearest(directory: string): Program | undefined {
  const found = read(join(directory, 'package.json'))
  if (found) return found
  const parent = dirname(directory)
  return parent === directory ? undefined : nearest(parent)
}

// A package.json may have no name, for example if it only sets "type": then another one above it is the program's.
function read(file: string): Program | undefined {
  try {
    const json: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof json !== 'object' || json === null || !('name' in json) || typeof json.name !== 'string')
      return undefined
    return { title: json.name, version: 'version' in json ? String(json.version) : UNKNOWN.version }
  } catch {
    return undefined
  }
}
