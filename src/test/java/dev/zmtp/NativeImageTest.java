package dev.zmtp;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.ResourceBundle;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** A native image holds what is reflected on only if {@code reflect-config.json} names it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS) // what was imported takes 150 MB, and goes with the instance
class NativeImageTest {
    private static final String FOLDER = "/META-INF/native-image/dev.zmtp/netty-zmtp/";
    private static final String METADATA = FOLDER + "reflect-config.json";
    private static final String PROPERTIES = FOLDER + "native-image.properties";

    private static final String CONSTRUCTOR = "[{'name': '<init>', 'parameterTypes': []}]";

    /** In a native image they find no method, unless the user's image names it, as ZMTPPeerCredentials says. */
    private static final String OF_CHANNELS = "dev\\.zmtp\\.internal\\.connection\\.TransportMethod(\\$\\d+)?";

    /** In a native image they look up nothing: NativeLibraryTest.aNativeImageCallsNone, MappingTest. */
    private static final String FOREIGN = "dev\\.zmtp\\.(security\\.NativeLibrary|shm\\.Mapping\\$OfArena)";

    private final JavaClasses main = new ClassFileImporter()
            .importUrl(ZMTPVersion.class.getProtectionDomain().getCodeSource().getLocation());

    @Test
    void theMetadataNamesEachHandlerAndEachFieldWithAHandle() throws IOException {
        JsonArray expected = new JsonArray();
        main.stream().sorted(Comparator.comparing(JavaClass::getName)).forEach(type -> {
            JsonObject entry = entry(type);
            // Netty looks at a handler's methods, and passes by those that only pass on.
            if (type.isAssignableTo(ChannelHandler.class)) {
                entry.addProperty("queryAllPublicMethods", true);
            }
            if (isChannelByClass(type)) {
                entry.add("methods", new Gson().fromJson(CONSTRUCTOR, JsonArray.class));
            }
            JsonArray fields = fieldsBehindHandles(type);
            if (!fields.isEmpty()) {
                entry.add("fields", fields);
            }
            if (entry.size() > 2) {
                expected.add(entry);
            }
        });

        assertThat(metadata()).isEqualTo(expected);
    }

    /** Quarkus initializes all other classes at build time, and so secrets, clocks and the size of the heap. */
    @Test
    void allClassesAreInitializedAtRunTime() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = NativeImageTest.class.getResourceAsStream(PROPERTIES)) {
            assertThat(in).as(PROPERTIES).isNotNull();
            properties.load(in);
        }

        assertThat(properties).containsOnly(Map.entry("Args", "--initialize-at-run-time=dev.zmtp"));
    }

    /** Whether a bootstrap may be given the class, and calls its constructor. */
    private static boolean isChannelByClass(JavaClass type) {
        return type.isAssignableTo(Channel.class)
                && type.tryGetConstructor()
                        .map(made -> made.getModifiers().contains(JavaModifier.PUBLIC))
                        .orElse(false);
    }

    private static JsonObject entry(JavaClass type) {
        JsonObject condition = new JsonObject();
        condition.addProperty("typeReachable", type.getName());
        JsonObject entry = new JsonObject();
        entry.addProperty("name", type.getName());
        entry.add("condition", condition);
        return entry;
    }

    /** The fields that a handle of the same class reaches: its constant has the field's name in capitals. */
    private static JsonArray fieldsBehindHandles(JavaClass type) {
        JsonArray fields = new JsonArray();
        type.getFields().stream()
                .filter(field -> field.getRawType().isEquivalentTo(VarHandle.class))
                .map(handle -> handle.getName().toLowerCase(Locale.ROOT))
                .filter(name -> type.tryGetField(name).isPresent()) // others reach arrays or buffers
                .sorted()
                .forEach(name -> {
                    JsonObject field = new JsonObject();
                    field.addProperty("name", name);
                    fields.add(field);
                });
        return fields;
    }

    private static JsonElement metadata() throws IOException {
        try (InputStream in = NativeImageTest.class.getResourceAsStream(METADATA)) {
            assertThat(in).as(METADATA).isNotNull();
            return new Gson().fromJson(new InputStreamReader(in, StandardCharsets.UTF_8), JsonElement.class);
        }
    }

    /**
     * It calls the constructor of a user's class, so the user's image must name that class, as the Javadoc of the
     * setting says.
     */
    @Test
    void onlyTheConfigReflectsOnAClassGivenToIt() {
        noClasses()
                .that()
                .haveNameNotMatching("dev\\.zmtp\\.codec\\.Constructors(\\$\\d+)?")
                .and()
                .haveNameNotMatching(FOREIGN)
                .and()
                .haveNameNotMatching(OF_CHANNELS)
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.reflect..")
                .orShould()
                .callMethodWhere(target(owner(assignableTo(Class.class)))
                        .and(target(nameMatching("get(Declared)?(Constructor|Method|Field|RecordComponent)s?"))))
                .check(main);
    }

    @Test
    void nothingIsLookedUpByName() {
        noClasses()
                .that()
                .haveNameNotMatching(FOREIGN)
                .should()
                .callMethodWhere(target(owner(assignableTo(Class.class)))
                        .and(target(nameMatching("forName|newInstance|getResource.*"))))
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(ClassLoader.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(ServiceLoader.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(ResourceBundle.class)
                .check(main);
    }

    @Test
    void theMetadataNamesTheFieldOfEachHandle() {
        noClasses()
                .that(describe(
                        "have no fields in the metadata",
                        type -> fieldsBehindHandles(type).isEmpty()))
                .should()
                .dependOnClassesThat()
                .areAssignableTo(MethodHandles.Lookup.class)
                .check(main);
        noClasses()
                .should()
                .callMethodWhere(target(owner(assignableTo(MethodHandles.Lookup.class)))
                        .and(target(not(nameMatching("findVarHandle")))))
                .check(main);
    }
}
