import { type Dirent, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { displayOfColumn } from '../difference/change.js'
import { existingClasses } from './existing-classes.js'

/** The columns that comments `// without secret` of the classes in a folder name, as `hero.secret`. */
export function leftOutColumns(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return isOfPackages(entry) ? [] : leftOutColumns(path)
    return entry.name.endsWith('.ts') ? leftOutIn(readFileSync(path, 'utf8')) : []
  })
}

function isOfPackages({ name }: Dirent): boolean {
  return name === 'node_modules' || name.startsWith('.')
}

function leftOutIn(text: string): string[] {
  if (!text.includes('// without ')) return []
  return existingClasses(text).flatMap(({ table, without }) =>
    [...without].map((column) => displayOfColumn(table, column)),
  )
}
