// Agents derive the registry host of an image as the plane does, and check themselves whether a login may be sent there.
export { normalRegistryHost, REGISTRY_HOST, registryHostOf } from '../contract/registry-host.ts'
