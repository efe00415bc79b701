import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.rocketmq.auth.authentication.model.Subject;
import org.apache.rocketmq.auth.authorization.chain.AclAuthorizationHandler;
import org.apache.rocketmq.auth.authorization.context.DefaultAuthorizationContext;
import org.apache.rocketmq.auth.authorization.enums.Decision;
import org.apache.rocketmq.auth.authorization.enums.PolicyType;
import org.apache.rocketmq.auth.authorization.model.Acl;
import org.apache.rocketmq.auth.authorization.model.Environment;
import org.apache.rocketmq.auth.authorization.model.Policy;
import org.apache.rocketmq.auth.authorization.model.PolicyEntry;
import org.apache.rocketmq.auth.authorization.model.Resource;
import org.apache.rocketmq.auth.authorization.provider.AuthorizationMetadataProvider;
import org.apache.rocketmq.auth.config.AuthConfig;
import org.apache.rocketmq.common.action.Action;
import org.apache.rocketmq.common.chain.HandlerChain;
import org.apache.rocketmq.common.resource.ResourcePattern;
import org.apache.rocketmq.common.resource.ResourceType;

/**
 * What RocketMQ's own classes decide about a user's rules. One case a line, as JSON: `changes` of
 * the rules, one after the other, then `asks`; the answer is a list of true and false.
 */
public final class Policies {
    private static final Subject ALICE = Subject.of("User:alice");
    private static Acl rules;

    /** Has the rules of the case that is decided now. */
    public static final class Provider implements AuthorizationMetadataProvider {
        @Override
        public void initialize(AuthConfig config, Supplier<?> service) {
        }

        @Override
        public void shutdown() {
        }

        @Override
        public CompletableFuture<Void> createAcl(Acl acl) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Void> deleteAcl(Subject subject) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Void> updateAcl(Acl acl) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Acl> getAcl(Subject subject) {
            return CompletableFuture.completedFuture(rules);
        }

        @Override
        public CompletableFuture<List<Acl>> listAcl(String subjects, String resources) {
            throw new UnsupportedOperationException();
        }
    }

    public static void main(String[] arguments) throws Exception {
        AuthConfig config = new AuthConfig();
        config.setConfigName("policies");
        config.setAuthorizationMetadataProvider(Provider.class.getName());
        AclAuthorizationHandler handler = new AclAuthorizationHandler(config);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JSONObject one = JSON.parseObject(line);
            rules = null;
            for (Object change : one.getJSONArray("changes")) {
                change((JSONObject) change);
            }
            List<Boolean> answers = new ArrayList<>();
            for (Object ask : one.getJSONArray("asks")) {
                answers.add(isAllowed(handler, (JSONObject) ask));
            }
            System.out.println("= " + JSON.toJSONString(answers));
        }
        System.exit(0);
    }

    private static void change(JSONObject change) {
        PolicyType type = PolicyType.getByName(change.getString("policy"));
        Resource resource = Resource.of(change.getString("resource"));
        if (!change.containsKey("decision")) {
            if (rules != null) {
                rules.deletePolicy(type, resource);
            }
            return;
        }
        List<String> sources = texts(change.getJSONArray("sources"));
        PolicyEntry entry = PolicyEntry.of(
            resource, actions(change.getJSONArray("actions")),
            sources.isEmpty() ? null : Environment.of(sources),
            Decision.getByName(change.getString("decision")));
        Policy policy = Policy.of(type, new ArrayList<>(List.of(entry)));
        if (rules == null) {
            rules = Acl.of(ALICE, new ArrayList<>(List.of(policy)));
        } else {
            rules.updatePolicy(policy);
        }
    }

    private static boolean isAllowed(AclAuthorizationHandler handler, JSONObject ask) {
        Resource resource = Resource.of(
            ResourceType.getByName(ask.getString("kind")), ask.getString("name"),
            ResourcePattern.LITERAL);
        DefaultAuthorizationContext context = DefaultAuthorizationContext.of(
            ALICE, resource, actions(ask.getJSONArray("actions")), ask.getString("source"));
        try {
            HandlerChain<DefaultAuthorizationContext, CompletableFuture<Void>> chain =
                HandlerChain.create();
            handler.handle(context, chain).join();
            return true;
        } catch (RuntimeException refused) {
            return false;
        }
    }

    private static List<Action> actions(JSONArray names) {
        List<Action> found = new ArrayList<>();
        for (String name : texts(names)) {
            found.add(Action.getByName(name));
        }
        return found;
    }

    private static List<String> texts(JSONArray values) {
        return values.toJavaList(String.class);
    }
}
