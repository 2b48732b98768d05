import { existsSync } from 'node:fs'

/** A package manager, and its commands for messages. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn'
  /** `npm install pg` */
  readonly add: (packages: string) => string
  /** How to let a package run its install script, after which it has its compiled part. */
  readonly compile: (name: string) => string
}

const NPM: PackageManager = {
  name: 'npm',
  add: (packages) => `npm install ${packages}`,
  compile: (name) => `Run: npm pkg set allowScripts.${name}=true --json && npm rebuild ${name}`,
}

const PNPM: PackageManager = {
  name: 'pnpm',
  add: (packages) => `pnpm add ${packages}`,
  compile: (name) =>
    `Write allowBuilds: { ${name}: true } to pnpm-workspace.yaml (onlyBuiltDependencies: [${name}] before pnpm 10.26), ` +
    `and run: pnpm rebuild ${name}`,
}

const YARN: PackageManager = {
  name: 'yarn',
  add: (packages) => `yarn add ${packages}`,
  compile: (name) =>
    `Write "dependenciesMeta": { "${name}": { "built": true } } to package.json, and run: yarn rebuild ${name}`,
}

/** The package manager that has started this process; else that of the lockfile in the working directory; else npm. */
export function packageManager(): PackageManager {
  const agent = process.env['npm_config_user_agent'] ?? ''
  const started = [NPM, PNPM, YARN].find(({ name }) => agent.startsWith(`${name}/`))
  return started ?? (existsSync('pnpm-lock.yaml') ? PNPM : existsSync('yarn.lock') ? YARN : NPM)
}
