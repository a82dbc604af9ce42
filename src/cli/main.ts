#!/usr/bin/env node
import { runAsProcess } from './process.ts'

// Entry point of `podplane`, the command line for users and operators.

await runAsProcess(process.argv.slice(2))
