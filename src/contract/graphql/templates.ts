/** Templates of pods and endpoints. */
export const TEMPLATES = `type PodTemplate {
  id: String!
  name: String
  imageName: String
  dockerArgs: String
  env: [EnvironmentVariable]
  "Comma-separated."
  ports: String
  portsConfig: [PortConfig]
  containerDiskInGb: Int
  volumeInGb: Int
  volumeMountPath: String
  containerRegistryAuthId: String
  isServerless: Boolean
  isPublic: Boolean
  "Whether it is of an account that the operator names official."
  isRunpod: Boolean
  category: String
  startSsh: Boolean
  startJupyter: Boolean
  "Run in place of the image's command, with dockerArgs as its arguments."
  startScript: String
  "Empty of an endpoint's own template."
  readme: String
  advancedStart: Boolean
}

type PortConfig {
  name: String
  port: String
}

input PortConfigInput {
  name: String
  port: String
}

input PodTemplateInput {
  "True: of accounts that the operator names official; false: all others. Left out: both."
  isRunpod: Boolean
}

input SaveTemplateInput {
  id: String
  name: String
  imageName: String
  dockerArgs: String
  containerDiskInGb: Int
  volumeInGb: Int
  volumeMountPath: String
  ports: String
  env: [EnvironmentVariableInput]
  isServerless: Boolean
  isPublic: Boolean
  startSsh: Boolean
  startJupyter: Boolean
  "Of a shell, by its first line or /bin/sh; run in place of the image's command, with dockerArgs as its arguments."
  startScript: String
  readme: String
  containerRegistryAuthId: String
  "Kept for display."
  advancedStart: Boolean
  category: String
  "Names of ports; the ports too, where 'ports' is left out."
  portsConfig: [PortConfigInput]
}
`
