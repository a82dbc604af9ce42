import type { Mapped } from '../flat/terms.ts'
import { type Command, decodeArgs, encodeArgs } from '../resources/container.ts'

// A start script is a command that a shell runs, so v1, v2, pods and endpoints show it as that command (GQL-43). Its `$0` marks it.

/** The name of the script inside its container: `$0`. */
const NAME = 'startScript'
const SHELL = ['/bin/sh']
const SHEBANG = /^#![ \t]*(\S+)(?:[ \t]+(\S+))?[ \t]*(?:\r?\n|$)/
const SHELLS = ['sh', 'bash', 'dash', 'ash', 'zsh']

/** A command as GraphQL clients send it. */
export interface Start {
  dockerArgs: string
  startScript: string
}

/** The stored command: the script, run by the shell that its first line names, with the words of `dockerArgs` as its arguments. */
export function argsOfStart({ dockerArgs, startScript }: Start, at = '$.startScript'): Mapped<string> {
  if (startScript === '') return { ok: true, body: dockerArgs }
  const shell = shellOf(startScript)
  if (!shell) return { ok: false, detail: `${at}: its first line is not a shell; put the command into dockerArgs` }
  const { entrypoint, cmd } = decodeArgs(dockerArgs)
  return { ok: true, body: encodeArgs({ entrypoint: [...shell, '-c', startScript, NAME], cmd: [...entrypoint, ...cmd] }) }
}

/** Reads a stored command back; a command that is not a start script becomes `dockerArgs` unchanged. */
export function startOfArgs(args: string): Start {
  const { entrypoint, cmd } = decodeArgs(args)
  const [script, name] = entrypoint.slice(-2)
  const isScript = name === NAME && script !== undefined && isSame(encodeStart(script), entrypoint)
  return isScript ? { dockerArgs: cmd.map(quoted).join(' '), startScript: script } : { dockerArgs: args, startScript: '' }
}

function encodeStart(script: string): Command['entrypoint'] {
  const shell = shellOf(script)
  return shell ? [...shell, '-c', script, NAME] : []
}

/** The shell of a line such as `#!/bin/bash` or `#!/usr/bin/env bash`; without such a line `/bin/sh`. Null: the line names no shell. */
function shellOf(script: string): string[] | null {
  const [, program, argument] = SHEBANG.exec(script) ?? []
  if (program === undefined) return SHELL
  const words = argument === undefined ? [program] : [program, argument]
  const shell = nameOf(program) === 'env' ? argument : nameOf(program)
  if (shell === undefined || !SHELLS.includes(shell)) return null
  // An option such as -e stays in front of -c.
  return nameOf(program) === 'env' || argument === undefined || argument.startsWith('-') ? words : null
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Quotes a word so that a POSIX shell reads it unchanged. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, index) => word === other[index])
}
