#!/usr/bin/env node
import { describeError, escapeForLog } from '../core/log-text.js'
import { meant } from '../core/options.js'
import { startupMessage } from '../core/startup-error.js'
import { type Command, CommandError, FLAGS, readArguments } from './command.js'
import { ownManifest } from './own-package.js'

interface ListedCommand {
  /** One line for the list of commands. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** A command is loaded when it is named: the list of all of them is printed at once. */
const COMMANDS: Readonly<Record<string, ListedCommand>> = {
  new: { summary: 'creates a project', load: async () => (await import('./new.js')).newProject },
  routes: {
    summary: 'lists the routes, with their inputs and transactions',
    load: async () => (await import('./routes.js')).routes,
  },
  openapi: {
    summary: 'prints the OpenAPI document, or its breaking changes',
    load: async () => (await import('./openapi.js')).openapi,
  },
  client: { summary: 'generates a typed client', load: async () => (await import('./client.js')).client },
  doctor: {
    summary: 'looks for mistakes in the setup of a project',
    load: async () => (await import('./doctor.js')).doctor,
  },
  work: { summary: 'runs jobs and relays', load: async () => (await import('./work.js')).work },
  jobs: { summary: 'lists jobs, and runs dead ones again', load: async () => (await import('./jobs.js')).jobs },
  migrate: {
    summary: 'writes migrations from the models, and applies them',
    load: async () => (await import('./migrate.js')).migrate,
  },
  models: {
    summary: 'writes classes from the tables of a database',
    load: async () => (await import('./models.js')).models,
  },
  upgrade: {
    summary: 'changes a program for the installed version',
    load: async () => (await import('./upgrade.js')).upgrade,
  },
}

/** @returns the exit code. */
async function main([name, ...args]: readonly string[]): Promise<number> {
  const listed = name === undefined || name.startsWith('-') ? undefined : commandOf(name)
  if (!name || !listed) return withoutCommand(name === undefined ? [] : [name, ...args])
  const command = await listed.load()
  return run(name, command, args).catch((error: unknown) => report(error, command.failure ?? 1))
}

function commandOf(name: string): ListedCommand {
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
  const { words, options, flags, several } = readArguments(args, `sequitur ${name}`, command)
  if (!FLAGS.some((flag) => flags.has(flag))) return command.run(words, options, flags, several)
  process.stdout.write(`${flags.has('version') ? version() : helpText(command, words)}\n`)
  return 0
}

function helpText({ actions = {}, ...command }: Command, words: readonly string[]): string {
  const action = words.find((word) => Object.hasOwn(actions, word))
  const { usage, details } = (action === undefined ? undefined : actions[action]) ?? command
  return `Usage: sequitur ${usage}\n\n${details}`
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
    error instanceof CommandError || isOfCompiler(error)
      ? error.message
          .split('\n')
          .map((line) => escapeForLog(line))
          .join('\n')
      : (startupMessage(error) ?? describeError(error))
  process.stderr.write(`${message}\n`)
  return code
}

/** What sequitur/register throws for a file has the lines of it. */
function isOfCompiler(error: unknown): error is SyntaxError {
  return error instanceof SyntaxError && error.message.includes('\n')
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => report(error, 1))
// Open connections or timers of the module must not keep the process running.
process.stdout.write('', () => process.exit())
