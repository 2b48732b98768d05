// `--import sequitur/register`: compiles TypeScript files with decorators, and emits the types of their parameters.
import module from 'node:module'
import { load, resolve } from './sync-hooks.js'

// Before these versions, registerHooks() fails on every CommonJS file if there are asynchronous hooks too, such as those of tsx:
// https://github.com/nodejs/node/issues/57327
/** @type {Record<number, string>} */
const fixedIn = { 22: '22.22.3', 24: '24.11.1', 25: '25.1.0' }

/** @param {string} version */
function isFixed(version) {
  const fixed = fixedIn[parseInt(version)] ?? '26.0.0'
  return version.localeCompare(fixed, 'en', { numeric: true }) >= 0
}

function register() {
  // Cast, because @types/node 20 does not declare registerHooks().
  const { registerHooks } = /** @type {{ registerHooks?: (hooks: object) => void }} */ (module)
  if (registerHooks && isFixed(process.versions.node)) registerHooks({ resolve, load })
  else module.register('./hooks.js', import.meta.url)
  process.setSourceMapsEnabled(true)
}

// Registers once, even if this file is loaded as several modules: with a query in its URL, or from another node_modules.
const registered = Symbol.for('sequitur/register')
if (!Reflect.has(globalThis, registered)) {
  Reflect.set(globalThis, registered, true)
  register()
}
