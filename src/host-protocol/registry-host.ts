// An agent reads the host of an image as the plane does, and looks for itself whether a login may go there.
export { normalRegistryHost, REGISTRY_HOST, registryHostOf } from '../contract/registry-host.ts'
