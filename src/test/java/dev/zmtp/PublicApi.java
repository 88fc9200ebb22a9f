package dev.zmtp;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.module.ModuleFinder;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.GenericDeclaration;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Lists the types that the module exports, with their public and protected members, one on a line. Types go by their
 * simple names. Members that a hidden superclass or interface declares are listed with the type that inherits them.
 */
final class PublicApi {

    private static final Set<String> OF_EVERY_RECORD = Set.of("equals", "hashCode", "toString");

    /** What the type variables of hidden supertypes stand for. */
    private final Map<TypeVariable<?>, Type> arguments = new HashMap<>();

    private final Class<?> type;
    private final SortedSet<Line> members = new TreeSet<>();

    /** A member: fields come before constructors and these before methods, each by name. */
    private record Line(Kind kind, String name, String text) implements Comparable<Line> {

        private static final Comparator<Line> ORDER =
                Comparator.comparing(Line::kind).thenComparing(Line::name).thenComparing(Line::text);

        @Override
        public int compareTo(Line other) {
            return ORDER.compare(this, other);
        }
    }

    private enum Kind {
        FIELD,
        CONSTRUCTOR,
        METHOD
    }

    private PublicApi(Class<?> type) {
        this.type = type;
    }

    /** Returns the list for the module {@code dev.zmtp} in this directory. */
    static String of(Path classes) {
        StringBuilder list = new StringBuilder();
        try (var module =
                ModuleFinder.of(classes).find("dev.zmtp").orElseThrow().open()) {
            List<String> files = module.list().toList();
            for (String name : exports(classes)) {
                list.append("package ").append(name).append("\n\n");
                String directory = name.replace('.', '/') + "/";
                files.stream()
                        .filter(file -> file.matches(directory + "[^/]*(?<!-info)\\.class"))
                        .map(file -> load(file.replace('/', '.').replaceFirst("\\.class$", "")))
                        .filter(PublicApi::isVisible)
                        .sorted(Comparator.comparing(PublicApi::name))
                        .forEach(type -> list.append(new PublicApi(type).show()).append('\n'));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return list.toString();
    }

    private static List<String> exports(Path classes) {
        return ModuleFinder.of(classes).find("dev.zmtp").orElseThrow().descriptor().exports().stream()
                .map(exported -> exported.source())
                .sorted()
                .toList();
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, PublicApi.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isVisible(Class<?> type) {
        return isVisible(type.getModifiers())
                && !type.isSynthetic()
                && (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass()));
    }

    private static boolean isVisible(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private String show() {
        String header = header();
        String constants = "";
        if (type.isEnum()) {
            constants = Arrays.stream(type.getEnumConstants())
                    .map(constant -> "    " + ((Enum<?>) constant).name() + "\n")
                    .collect(joining());
        }
        addFields(type);
        Arrays.stream(type.getDeclaredConstructors())
                .filter(this::isListed)
                .filter(constructor -> !isCanonical(constructor))
                .forEach(constructor -> add(
                        Kind.CONSTRUCTOR,
                        constructor,
                        typeParameters(constructor) + type.getSimpleName() + parameters(constructor)));
        addMethods(type);
        return header + " {\n" + constants
                + members.stream().map(member -> "    " + member.text() + "\n").collect(joining()) + "}\n";
    }

    private String header() {
        String kind =
                type.isInterface() ? "interface " : type.isEnum() ? "enum " : type.isRecord() ? "record " : "class ";
        String components = type.isRecord()
                ? Arrays.stream(type.getRecordComponents())
                        .map(component -> show(component.getGenericType()) + " " + component.getName())
                        .collect(joining(", ", "(", ")"))
                : "";
        List<Type> supertypes = new ArrayList<>();
        String parent = parent(supertypes);
        Arrays.stream(type.getGenericInterfaces()).forEach(each -> addInterface(each, supertypes));
        String interfaces = supertypes.stream().map(this::show).distinct().collect(joining(", "));
        String permitted = type.isSealed() && !type.isEnum()
                ? Arrays.stream(type.getPermittedSubclasses())
                        .filter(PublicApi::isVisible)
                        .map(PublicApi::name)
                        .collect(joining(", ", " permits ", ""))
                : "";
        return deprecation(type.isAnnotationPresent(Deprecated.class))
                + typeModifiers()
                + kind
                + name(type)
                + typeParameters(type)
                + components
                + parent
                + (interfaces.isEmpty() ? "" : (type.isInterface() ? " extends " : " implements ") + interfaces)
                + permitted;
    }

    private String typeModifiers() {
        int modifiers = type.getModifiers();
        boolean plain = !type.isInterface() && !type.isEnum() && !type.isRecord();
        return (Modifier.isPublic(modifiers) ? "public " : "protected ")
                + (plain && Modifier.isAbstract(modifiers) ? "abstract " : "")
                + (plain && Modifier.isFinal(modifiers) ? "final " : "")
                + (type.isSealed() && !type.isEnum() ? "sealed " : "");
    }

    /** Returns the extends clause with the nearest visible superclass, and adds the interfaces of the hidden ones. */
    private String parent(List<Type> interfaces) {
        Type parent = type.getGenericSuperclass();
        while (parent != null && isHidden(raw(parent))) {
            bind(parent);
            Arrays.stream(raw(parent).getGenericInterfaces()).forEach(each -> addInterface(each, interfaces));
            parent = raw(parent).getGenericSuperclass();
        }
        boolean implied = parent == null || parent == Object.class || type.isEnum() || type.isRecord();
        return implied ? "" : " extends " + show(parent);
    }

    private void addInterface(Type added, List<Type> interfaces) {
        if (isHidden(raw(added))) {
            bind(added);
            Arrays.stream(raw(added).getGenericInterfaces()).forEach(each -> addInterface(each, interfaces));
        } else {
            interfaces.add(added);
        }
    }

    private static boolean isHidden(Class<?> supertype) {
        return supertype.getName().startsWith("dev.zmtp.") && !isVisible(supertype);
    }

    private void bind(Type supertype) {
        if (supertype instanceof ParameterizedType parameterized) {
            TypeVariable<?>[] variables = raw(supertype).getTypeParameters();
            for (int i = 0; i < variables.length; i++) {
                arguments.put(variables[i], parameterized.getActualTypeArguments()[i]);
            }
        }
    }

    private void addFields(Class<?> declaring) {
        Arrays.stream(declaring.getDeclaredFields())
                .filter(this::isListed)
                .filter(field -> !field.isEnumConstant())
                .forEach(field ->
                        add(Kind.FIELD, field, show(field.getGenericType()) + " " + field.getName() + value(field)));
    }

    private void addMethods(Class<?> declaring) {
        Arrays.stream(declaring.getDeclaredMethods())
                .filter(this::isListed)
                .filter(Predicate.not(this::isImplied))
                .forEach(method -> add(
                        Kind.METHOD,
                        method,
                        typeParameters(method) + show(method.getGenericReturnType()) + " " + method.getName()
                                + parameters(method)));
        Stream.concat(Stream.ofNullable(declaring.getSuperclass()), Arrays.stream(declaring.getInterfaces()))
                .filter(PublicApi::isHidden)
                .forEach(hidden -> {
                    addFields(hidden);
                    addMethods(hidden);
                });
    }

    private void add(Kind kind, Member member, String rest) {
        members.add(new Line(kind, member.getName(), modifiers(member) + rest));
    }

    private boolean isListed(Member member) {
        boolean reachable = Modifier.isPublic(member.getModifiers()) || !Modifier.isFinal(type.getModifiers());
        return isVisible(member.getModifiers()) && reachable && !member.isSynthetic();
    }

    private boolean isCanonical(Constructor<?> constructor) {
        return type.isRecord()
                && Arrays.equals(
                        constructor.getParameterTypes(),
                        Arrays.stream(type.getRecordComponents())
                                .map(RecordComponent::getType)
                                .toArray());
    }

    /** Whether every enum or record of this header has the method. */
    private boolean isImplied(Method method) {
        String name = method.getName();
        if (type.isEnum()) {
            return Modifier.isStatic(method.getModifiers()) && (name.equals("values") || name.equals("valueOf"));
        }
        return type.isRecord()
                && (OF_EVERY_RECORD.contains(name)
                        || Arrays.stream(type.getRecordComponents())
                                .anyMatch(component -> component.getAccessor().equals(method)));
    }

    private String modifiers(Member member) {
        int modifiers = member.getModifiers();
        boolean ofInterface = member.getDeclaringClass().isInterface();
        boolean isDefault = member instanceof Method method && method.isDefault();
        boolean isDeprecated = ((AnnotatedElement) member).isAnnotationPresent(Deprecated.class);
        return deprecation(isDeprecated)
                + (Modifier.isPublic(modifiers) ? "public " : "protected ")
                + (Modifier.isStatic(modifiers) ? "static " : "")
                + (isDefault ? "default " : "")
                + (Modifier.isAbstract(modifiers) && !ofInterface ? "abstract " : "")
                + (Modifier.isFinal(modifiers) && !isRedundantlyFinal(member) ? "final " : "");
    }

    private boolean isRedundantlyFinal(Member member) {
        return member instanceof Method && Modifier.isFinal(type.getModifiers());
    }

    private static String deprecation(boolean deprecated) {
        return deprecated ? "@Deprecated " : "";
    }

    private static String value(Field field) {
        boolean constant = Modifier.isStatic(field.getModifiers())
                && Modifier.isFinal(field.getModifiers())
                && (field.getType().isPrimitive() || field.getType() == String.class);
        if (!constant) {
            return "";
        }
        try {
            Object value = field.get(null);
            return value instanceof String ? " = \"" + value + "\"" : String.format(Locale.ROOT, " = %s", value);
        } catch (IllegalAccessException e) {
            return ""; // a protected one
        }
    }

    private String parameters(Executable executable) {
        Type[] types = executable.getGenericParameterTypes();
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < types.length; i++) {
            String parameter = show(types[i]);
            boolean isRest = executable.isVarArgs() && i == types.length - 1;
            shown.add(isRest ? parameter.replaceFirst("\\[]$", "...") : parameter);
        }
        String thrown = Arrays.stream(executable.getGenericExceptionTypes())
                .map(this::show)
                .collect(joining(", "));
        return "(" + String.join(", ", shown) + ")" + (thrown.isEmpty() ? "" : " throws " + thrown);
    }

    private String typeParameters(GenericDeclaration declaration) {
        if (declaration.getTypeParameters().length == 0) {
            return "";
        }
        String parameters = Arrays.stream(declaration.getTypeParameters())
                .map(variable -> variable.getName() + bounds(" extends ", variable.getBounds()))
                .collect(joining(", ", "<", ">"));
        return declaration instanceof Class ? parameters : parameters + " ";
    }

    private String bounds(String keyword, Type... bounds) {
        return bounds.length == 0 || bounds[0] == Object.class
                ? ""
                : keyword + Arrays.stream(bounds).map(this::show).collect(joining(" & "));
    }

    private String show(Type shown) {
        if (shown instanceof TypeVariable<?> variable) {
            Type argument = arguments.get(variable);
            return argument == null ? variable.getName() : show(argument);
        }
        if (shown instanceof GenericArrayType array) {
            return show(array.getGenericComponentType()) + "[]";
        }
        if (shown instanceof WildcardType wildcard) {
            return "?" + bounds(" extends ", wildcard.getUpperBounds()) + bounds(" super ", wildcard.getLowerBounds());
        }
        if (shown instanceof ParameterizedType parameterized) {
            return name(raw(parameterized))
                    + Arrays.stream(parameterized.getActualTypeArguments())
                            .map(this::show)
                            .collect(joining(", ", "<", ">"));
        }
        return name((Class<?>) shown);
    }

    private static Class<?> raw(Type type) {
        return type instanceof ParameterizedType parameterized
                ? (Class<?>) parameterized.getRawType()
                : (Class<?>) type;
    }

    private static String name(Class<?> type) {
        if (type.isArray()) {
            return name(type.getComponentType()) + "[]";
        }
        Class<?> outer = type.getDeclaringClass();
        return outer == null ? type.getSimpleName() : name(outer) + "." + type.getSimpleName();
    }
}
