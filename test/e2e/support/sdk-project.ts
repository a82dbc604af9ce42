import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { copySdk, installSdkTools, runSdkTool } from '../../../scripts/sdk-tools.ts'

const runFile = promisify(execFile)

/** A project of somebody who uses the SDK: a folder into which its package was installed, as `npm pack` makes it, and nothing else. */
export class SdkProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'podplane-e2e-sdk-'))

  /** Brings the programs of a folder along. */
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

  /** Type-checks the programs with the compiler that the SDK is made for; throws with what is wrong. */
  check(): Promise<string> {
    return runSdkTool('tsc', [], this.folder)
  }

  /** Runs one of the programs, as the sources that they are, and returns what it printed. */
  async run(program: string, args: readonly string[]): Promise<string> {
    return (await runFile(process.execPath, [program, ...args], { cwd: this.folder })).stdout
  }

  /** What is installed, besides npm's own notes. */
  installed(): string[] {
    const modules = join(this.folder, 'node_modules')
    const names = readdirSync(modules).filter((name) => !name.startsWith('.'))
    return names.flatMap((name) => (name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : [name]))
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  // Tests run inside npm, whose variables would send this one to our own package.
  private async npm(cwd: string, ...args: string[]): Promise<void> {
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
    await runFile('npm', args, { cwd, env })
  }
}
