import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.PodsApi;
import org.openapitools.client.api.ServerlessApi;
import org.openapitools.client.model.*;

/** Creates, lists and deletes a pod and an endpoint with the client that openapi-generator makes for Java. */
public class Main {
  interface Call {
    void run() throws ApiException;
  }

  public static void main(String[] args) throws ApiException {
    ApiClient client = new ApiClient();
    client.setBasePath(args[0]);
    client.setBearerToken(args[1]);

    PodsApi pods = new PodsApi(client);
    CreatePodRequest wantedPod = new CreatePodRequest().name("java").image("builtin/idle").gpu(new PodGpuRequest().id("NVIDIA L4"));
    Pod pod = pods.createPod(wantedPod, null, null).getPod();
    boolean hasPod = pods.listPods(null, null, null).getPods().stream().anyMatch(one -> one.getId().equals(pod.getId()));
    pods.deletePod(pod.getId(), null, null);
    int gone = statusOf(() -> pods.getPod(pod.getId(), null));

    ServerlessApi serverless = new ServerlessApi(client);
    CreateEndpointRequest wanted =
        new CreateEndpointRequest().name("java").image("builtin/echo").cpu(new java.util.LinkedHashSet<>(List.of(new CreateCpuConfig().id("cpu3c").vcpuCount(2))));
    Endpoint endpoint = serverless.createEndpoint(wanted, null, null).getEndpoint();
    boolean hasEndpoint = serverless.listEndpoints(null, null).getEndpoints().stream().anyMatch(one -> one.getId().equals(endpoint.getId()));
    serverless.deleteEndpoint(endpoint.getId(), null, null);
    int ended = statusOf(() -> serverless.getEndpoint(endpoint.getId()));

    System.out.printf(
        "{\"pod\":[\"%s\",%b,%d],\"endpoint\":[\"%s\",%b,%d]}%n",
        pod.getName(), hasPod, gone, endpoint.getFlashboot(), hasEndpoint, ended);
    System.exit(0);
  }

  static int statusOf(Call call) {
    try {
      call.run();
      return 200;
    } catch (ApiException refused) {
      return refused.getCode();
    }
  }
}
