import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lower } from './lower.js'

/** @param {string} url */
export function isTypeScript(url) {
  return /^file:[^?#]*\.(?:[cm]?ts|tsx)(?:[?#]|$)/.test(url) && !url.includes('/node_modules/')
}

/**
 * Compiles a TypeScript file; undefined when the other hooks can load it.
 * Reads the file itself: the next hook may be that of tsx, which returns JavaScript without types.
 * @param {string} url
 * @param {string | null | undefined} format
 * @returns {import('node:module').LoadFnOutput | undefined}
 */
export function toJavaScript(url, format) {
  if (!isTypeScript(url)) return undefined
  const file = fileURLToPath(url)
  const source = readFileSync(file, 'utf8')
  const commonJs = isCommonJs(file, format)
  // Node calls a TypeScript module 'module-typescript', or undefined. A format of 'module' comes from tsx.
  const hasOtherCompiler = commonJs || format === 'module'
  if (hasOtherCompiler && !source.includes('@')) return undefined

  const { code, map, decorated } = lower(file, source)
  if (hasOtherCompiler && !decorated) return undefined
  if (commonJs) throw new Error(inCommonJs(file))
  return { format: 'module', source: withSourceMap(code, map), shortCircuit: true }
}

/**
 * @param {string} code
 * @param {string} map
 */
export function withSourceMap(code, map) {
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`
}

/**
 * @param {string} file
 * @param {string | null | undefined} format
 */
function isCommonJs(file, format) {
  return file.endsWith('.cts') || format === 'commonjs' || format === 'commonjs-typescript'
}

/** @param {string} file */
function inCommonJs(file) {
  const renamed = basename(file).replace(/\.\w+$/, '.mts')
  return (
    `${file} has decorators, but Node loads it as CommonJS, and a file loaded by require() has no parameter types. ` +
    `Write "type": "module" in its nearest package.json, or rename it to ${renamed}.`
  )
}
