// `--import sequitur/register`: gives TypeScript files their decorators and the types of their parameters.
import module from 'node:module'
import { load, resolve } from './sync-hooks.js'

// Below these versions registerHooks() fails on every CommonJS file if there are asynchronous hooks too, such as tsx's:
// https://github.com/nodejs/node/issues/57327
/** @type {Record<number, string>} */
const soundSince = { 22: '22.22.3', 24: '24.11.1', 25: '25.1.0' }

/** @param {string} version */
function isSound(version) {
  const since = soundSince[parseInt(version)] ?? '26.0.0'
  return version.localeCompare(since, 'en', { numeric: true }) >= 0
}

function register() {
  // @types/node 20 does not know registerHooks().
  const { registerHooks } = /** @type {{ registerHooks?: (hooks: object) => void }} */ (module)
  if (registerHooks && isSound(process.versions.node)) registerHooks({ resolve, load })
  else module.register('./hooks.js', import.meta.url)
  process.setSourceMapsEnabled(true)
}

// Two copies of this file (a query in the URL, another version in node_modules) are two modules.
const registered = Symbol.for('sequitur/register')
if (!Reflect.has(globalThis, registered)) {
  Reflect.set(globalThis, registered, true)
  register()
}
