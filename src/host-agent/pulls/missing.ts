import { statSync } from 'node:fs'

/** Returns the protections of images and disks that this host does not enforce, described for its operator (HOST-98, HOST-99). */
export function missingOfImages(
  { localImages, stateDir, volumeDir }: { localImages: boolean; stateDir: string; volumeDir: string },
  dataRoot: string | undefined,
): string[] {
  const [state, volumes, engine] = [stateDir, volumeDir, dataRoot].map(fileSystemOf)
  const shared = [
    ...(engine !== undefined && engine === state ? ["the container engine's data and the agent's state"] : []),
    ...(engine !== undefined && engine === volumes ? ["the container engine's data and persistent volumes"] : []),
    ...(state !== undefined && state === volumes ? ["persistent volumes and the agent's state"] : []),
  ]
  return [
    ...(localImages ? ["images: every tenant may run what lies in the container engine's store (--local-images)"] : []),
    ...(shared.length > 0 ? [`disks: ${shared.join(', ')} share a file system, so one can fill the other`] : []),
  ]
}

/** Returns the device of a path; undefined where it cannot be seen from here, such as the data of an engine in a virtual machine. */
function fileSystemOf(path: string | undefined): number | undefined {
  return path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.dev
}
