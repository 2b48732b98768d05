import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lower } from './lower.js'

/** @param {string} url */
export function isTypeScript(url) {
  return /^file:[^?#]*\.(?:[cm]?ts|tsx)(?:[?#]|$)/.test(url) && !url.includes('/node_modules/')
}

/**
 * What to run in place of a TypeScript file; undefined when it is better left to the rest of the chain.
 * Always reads the file: the rest of the chain may be tsx, which hands on JavaScript without types.
 * @param {string} url
 * @param {string | null | undefined} format
 * @returns {import('node:module').LoadFnOutput | undefined}
 */
export function toJavaScript(url, format) {
  if (!isTypeScript(url)) return undefined
  const file = fileURLToPath(url)
  const source = readFileSync(file, 'utf8')
  const commonJs = isCommonJs(file, format)
  // Node alone calls a TypeScript module 'module-typescript', or nothing: a plain 'module' is the work of tsx.
  const othersCompile = commonJs || format === 'module'
  if (othersCompile && !source.includes('@')) return undefined

  const { code, decorated } = lower(file, source)
  if (othersCompile && !decorated) return undefined
  if (commonJs) throw new Error(inCommonJs(file))
  return { format: 'module', source: code, shortCircuit: true }
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
    `${file} has decorators, but Node loads it as CommonJS, where a require() would lose the types of their parameters. ` +
    `Write "type": "module" into the package.json nearest to it, or name it ${renamed}.`
  )
}
