import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copySdk, installSdkTools, runSdkTool } from '../../../../scripts/sdk-tools.ts'

const runFile = promisify(execFile)

/** A project of an SDK user: a folder into which its package was installed, as `npm pack` builds it, and nothing else. */
export class SdkProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'podplane-e2e-sdk-'))

  /** Copies the programs of a folder into the project. */
  static async install(programs: string): Promise<SdkProject> {
    await installSdkTools()
    const project = new SdkProject()
    const { folder } = project
    const sdk = copySdk()
    try {
      await project.npm(sdk, 'pack', '--pack-destination', folder)
    } finally {
      rmSync(join(sdk, '..'), { recursive: true, force: true })
    }
    const [tarball = ''] = readdirSync(folder)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    await project.npm(folder, 'install', '--offline', '--no-audit', '--no-fund', join(folder, tarball))
    cpSync(programs, folder, { recursive: true })
    return project
  }

  /** Type-checks the programs with the compiler version of the SDK; throws with the errors. */
  check(): Promise<string> {
    return runSdkTool('tsc', [], this.folder)
  }

  /** Runs one of the programs from its sources, and returns its output. */
  async run(program: string, args: readonly string[]): Promise<string> {
    return (await runFile(process.execPath, [program, ...args], { cwd: this.folder })).stdout
  }

  /** The installed packages, without npm's own files. */
  installed(): string[] {
    const modules = join(this.folder, 'node_modules')
    const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
    return names.flatMap((name) => (name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name]))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  // Tests run inside npm, whose variables would point this one at our own package.
  private async npm(cwd: string, ...args: string[]): Promise<void> {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
    await runFile('npm', args, { cwd, env })
  }
}
