import { existsSync } from 'node:fs'
import { isTypeScript } from './load.js'

/**
 * Finds './hero.ts' for a missing './hero.js', which is compiled from it; throws the error when there is none.
 * @param {unknown} error the error of the next resolve hook
 */
export function typescriptInstead(error) {
  const missing = error instanceof Error && 'url' in error ? String(error.url) : ''
  const found = sourcesOf(missing).find((url) => isTypeScript(url) && existsSync(new URL(url)))
  if (!found) throw error
  return found
}

/** @param {string} url */
function sourcesOf(url) {
  const source = url.replace(/\.(m?)js(?=$|[?#])/, '.$1ts')
  return source === url ? [] : [source, source.replace(/\.ts(?=$|[?#])/, '.tsx')]
}
