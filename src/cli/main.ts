#!/usr/bin/env node
import { describeError, escapeForLog } from '../core/log-text.js'
import { meant } from '../core/options.js'
import { startupMessage } from '../core/startup-error.js'
import { client } from './client.js'
import { type Command, CommandError, FLAGS, readArguments } from './command.js'
import { doctor } from './doctor.js'
import { jobs } from './jobs.js'
import { newProject } from './new.js'
import { openapi } from './openapi.js'
import { ownManifest } from './own-package.js'
import { routes } from './routes.js'
import { upgrade } from './upgrade.js'
import { work } from './work.js'

const COMMANDS: Readonly<Record<string, Command>> = {
  new: newProject,
  routes,
  openapi,
  client,
  doctor,
  work,
  jobs,
  upgrade,
}

/** @returns the exit code. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  const command = name === undefined || name.startsWith('-') ? undefined : commandOf(name)
  if (!name || !command) return withoutCommand(name === undefined ? [] : [name, ...args])
  return run(name, command, args).catch((error: unknown) => report(error, command.failure ?? 1))
}

function commandOf(name: string): Command {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) return command
  throw new CommandError(`There is no command '${name}'. ${meant(name, Object.keys(COMMANDS))}`)
}

function withoutCommand(args: readonly string[]): number {
  const { flags } = readArguments(args, 'sequitur', { options: [] })
  if (flags.size === 0) throw new CommandError(`Name a command: ${Object.keys(COMMANDS).join(', ')}.`)
  process.stdout.write(`${flags.has('version') ? version() : overview()}\n`)
  return 0
}

async function run(name: string, command: Command, args: readonly string[]): Promise<number> {
  const { words, options, flags } = readArguments(args, `sequitur ${name}`, command)
  if (!FLAGS.some((flag) => flags.has(flag))) return command.run(words, options, flags)
  const help = `Usage: sequitur ${command.usage}\n\n${command.details}`
  process.stdout.write(`${flags.has('version') ? version() : help}\n`)
  return 0
}

function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length))
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `Usage: sequitur <command>\n\n${lines.join('\n')}\n\nsequitur <command> --help describes one, sequitur --version prints the version.`
}

function version(): string {
  return ownManifest().version
}

function report(error: unknown, code: number): number {
  const message =
    error instanceof CommandError ? escapeForLog(error.message) : (startupMessage(error) ?? describeError(error))
  process.stderr.write(`${message}\n`)
  return code
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => report(error, 1))
// Open connections or timers of the module must not keep the process running.
process.stdout.write('', () => process.exit())
