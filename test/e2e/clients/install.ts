import { installPackages } from '../../../scripts/install-packages.ts'

/** Global set-up of the end-to-end tests: installs the published clients that they run. Without them, the tests of clients fail. */
export default async function installClients(): Promise<void> {
  await installPackages(import.meta.dirname).catch((error: Error) => {
    process.stderr.write(`The packages of test/e2e/clients cannot be installed; the tests that use them will fail.\n${error.message}\n`)
  })
}
