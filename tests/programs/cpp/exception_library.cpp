// What the library throws has the type that it should, and says something.
// raddle: -- -std=c++17
// bmc: refused
#include <cassert>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

template <typename Error, typename Function> static bool throws(Function function) {
    try {
        function();
    } catch (const Error &error) {
        return typeid(error) == typeid(Error) && std::strlen(error.what()) > 0;
    }
    return false;
}

int main() {
    std::vector<int> numbers(2);
    std::string text("ab");
    assert(throws<std::out_of_range>([&] { numbers.at(5) = 1; }));
    assert(throws<std::out_of_range>([&] { text.at(9); }));
    assert(throws<std::length_error>([&] { numbers.reserve(numbers.max_size() + 1); }));
    assert(throws<std::bad_optional_access>([] { std::optional<int>().value(); }));
    assert(throws<std::bad_function_call>([] { std::function<void()>()(); }));
    assert(throws<std::bad_weak_ptr>([] { std::shared_ptr<int>(std::weak_ptr<int>()); }));
    assert(throws<std::domain_error>([&] { throw std::domain_error(text + " and more than that"); }));
    try {
        try {
            throw std::runtime_error("inner");
        } catch (...) {
            std::throw_with_nested(std::logic_error("outer"));
        }
    } catch (const std::exception &outer) {
        assert(throws<std::runtime_error>([&] { std::rethrow_if_nested(outer); }));
        return 0;
    }
    assert(false);
}
